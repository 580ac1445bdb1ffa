import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The folders of subjects. The other folders of lib/ serve all of them. */
const SUBJECTS = ['keys', 'projects', 'audit', 'operators', 'emails', 'webhooks', 'events', 'deliveries', 'documents'];
const OTHERS = ['api', 'http', 'aws', 'client'];

/**
 * The folders from the lowest to the highest, which is the order with the fewest imports of a higher folder. `client` is a separate
 * package.
 */
const ORDER = [
  'aws',
  'http',
  'audit',
  'projects',
  'events',
  'documents',
  'emails',
  'webhooks',
  'deliveries',
  'keys',
  'api',
  'operators',
];
const MAX_UPWARD = 20;

/** The kinds of files that every subject can have. `stats-store.ts` is a store. */
const KINDS = ['routes', 'operations', 'handlers', 'consumers', 'store'];
const kindOf = (file: string): string | undefined =>
  KINDS.find((kind) => new RegExp(`(^|[-/])${kind}\\.ts$`).test(file));
/** All other files with effects. Each performs the effects of a rule in their order. */
const STEPS = [
  'api/authorizer.ts',
  'concurrency.ts',
  'deliveries/addresses.ts',
  'deliveries/batch.ts',
  'deliveries/connect.ts',
  'deliveries/deliver.ts',
  'deliveries/exchange.ts',
  'deliveries/http-post.ts',
  'deliveries/lane-queues.ts',
  'deliveries/notify.ts',
  'deliveries/start-recovery.ts',
  'deliveries/wait-meter.ts',
  'documents/pages.ts',
  'emails/notices.ts',
  'emails/send.ts',
  'http/page.ts',
  'http/serve.ts',
  'http/static.ts',
  'keys/authenticate.ts',
  'keys/dashboard-session.ts',
  'keys/last-admin-key.ts',
  'keys/signed-claims.ts',
  'keys/token.ts',
  'operators/delete-project.ts',
  'operators/enable-webhooks.ts',
  'projects/cursors.ts',
  'webhooks/apply-change.ts',
].map((name) => `lib/${name}`);
const ofKindWithEffects = (file: string): boolean => ['handlers', 'consumers', 'store'].includes(kindOf(file) ?? '');
const hasEffects = (file: string): boolean => ofKindWithEffects(file) || STEPS.includes(file);
/** Effects, which no rule contains: time and randomness are its arguments, and other files read and write for it. */
const EFFECTS =
  /\b(async|await|Promise|Date\.now|new Date\(\)|performance\.(now|nodeTiming)|set(Timeout|Interval)|Math\.random|random(Bytes|UUID|Int))\b/;

const IMPORT = /(?:from|import) '(\.{1,2}\/[^']+)'/g;
const sources = ['functions', 'infra', 'lib'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(tsx?|css|py)$/.test(name))
    .map((name) => join(folder, name)),
);
const files = sources.filter((name) => /\.tsx?$/.test(name));
const importsOf = (file: string, text = readFileSync(file, 'utf8')): string[] =>
  [...text.matchAll(IMPORT)].map(([, path = '']) => normalize(join(dirname(file), path)));
/** The files that a file imports at runtime. */
const valuesOf = (file: string): string[] =>
  importsOf(file, readFileSync(file, 'utf8').replace(/^(import|export) type [^;]*;/gm, ''));

/** Returns the folder of a file in lib/, or an empty text for a file in its root. */
function folderOf(file: string): string | undefined {
  const [root, folder, ...rest] = file.split('/');
  if (root !== 'lib') return undefined;
  return rest.length > 0 ? folder : '';
}

/** A file with the code of one Lambda function. */
const isFunction = (file: string): boolean => /^functions\/[\w-]+\.ts$/.test(file);

/** Returns why a file must not import another one, or `null`. */
function objectionTo(file: string, imported: string): string | null {
  const [from, to] = [folderOf(file), folderOf(imported)];
  if (to === undefined) return from === undefined ? null : 'lib/ imports only itself';
  if (to === 'aws' && from === undefined && !/^(functions|infra\/commands)\//.test(file))
    return 'only functions/ and commands use lib/aws/';
  if (to === 'aws' && from !== undefined && from !== 'aws' && !hasEffects(file))
    return 'a file of rules uses only types of lib/aws/';
  if (kindOf(imported) === 'handlers' && from !== undefined && from !== to)
    return 'a subject imports rules, steps and stores of another, and no handlers';
  if (isFunction(file) && to === 'api' && file !== 'functions/authorizer.ts')
    return 'a function serves only its own operations';
  if (kindOf(file) === 'operations' && ofKindWithEffects(imported))
    return 'the template and the documentation import operations';
  if (kindOf(file) === 'routes' && from !== 'api' && imported !== 'lib/http/route.ts')
    return 'the authorizer imports all routes, and needs no schema';
  return null;
}

describe('an import', () => {
  it('follows the rules of the folders', () => {
    const objections = files.flatMap((file) =>
      valuesOf(file).flatMap((imported) => {
        const objection = objectionTo(file, imported);
        return objection === null ? [] : [`${file} -> ${imported}: ${objection}`];
      }),
    );
    expect(objections).toEqual([]);
  });

  it.each([
    ['lib/deliveries/decide.ts', 'lib/aws/log.ts'],
    ['lib/keys/operations.ts', 'lib/keys/store.ts'],
    ['lib/keys/routes.ts', 'lib/keys/operations.ts'],
    ['lib/http/serve.ts', 'infra/settings.ts'],
    ['lib/keys/key.ts', 'lib/aws/items.ts'],
    ['infra/stack.ts', 'lib/aws/log.ts'],
    ['lib/operators/enable-webhooks.ts', 'lib/deliveries/recovery-handlers.ts'],
    ['functions/keys.ts', 'lib/api/operations.ts'],
  ])('of %s may not be %s', (file, imported) => {
    expect(objectionTo(file, imported)).not.toBeNull();
  });

  it('of another folder is mostly downward, in the order that the map of the code prints', () => {
    expect(new Set([...ORDER, 'client'])).toEqual(new Set([...SUBJECTS, ...OTHERS]));
    expect(readFileSync('lib/README.md', 'utf8')).toContain(ORDER.map((folder) => `\`${folder}\``).join(' → '));
    const upward = files
      .filter((file) => ORDER.includes(folderOf(file) ?? ''))
      .flatMap((file) =>
        importsOf(file)
          .filter((imported) => ORDER.indexOf(folderOf(imported) ?? '') > ORDER.indexOf(folderOf(file) ?? ''))
          .map((imported) => `${file} -> ${imported}`),
      );
    expect(upward.length, upward.join('\n')).toBeLessThanOrEqual(MAX_UPWARD);
  });

  it('of http/ is never a subject, also not for a type', () => {
    const imported = files.filter((file) => folderOf(file) === 'http').flatMap((file) => importsOf(file));
    expect(imported.filter((file) => ![undefined, '', 'http', 'aws'].includes(folderOf(file)))).toEqual([]);
  });

  it('of the root of lib/ is never a folder', () => {
    const imported = files.filter((file) => folderOf(file) === '').flatMap((file) => importsOf(file));
    expect(imported.filter((file) => folderOf(file) !== '')).toEqual([]);
  });

  it('gives a function only the operations that it serves', () => {
    const reached = (file: string, found = new Set<string>()): Set<string> => {
      if (files.includes(file) && !found.has(file)) {
        found.add(file);
        for (const imported of valuesOf(file)) reached(imported, found);
      }
      return found;
    };
    const operationsOf = (starts: readonly string[]): string[] =>
      [...new Set(starts.flatMap((file) => [...reached(file)]))].filter((file) => kindOf(file) === 'operations').sort();
    const functions = files.filter(isFunction);
    const served = functions.map((file) =>
      operationsOf(valuesOf(file).filter((each) => kindOf(each) === 'operations')),
    );
    expect(served.flat()).not.toEqual([]);
    expect(functions.map((file) => operationsOf([file]))).toEqual(served);
  });

  it('creates no cycle', () => {
    const circles: string[] = [];
    const done = new Set<string>();
    const walk = (file: string, path: string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      if (done.has(file) || path.includes(file)) return;
      for (const imported of importsOf(file)) if (files.includes(imported)) walk(imported, [...path, file]);
      done.add(file);
    };
    for (const file of files) walk(file, []);
    expect(circles).toEqual([]);
  });
});

describe('a file of lib/', () => {
  it('states in its first line that the browser imports it', () => {
    const ofBrowser = ['functions/site/dashboard/', 'functions/site/docs/browser/'].map((folder) => {
      const found = files.filter((file) => file.startsWith(folder));
      expect(found, folder).not.toEqual([]);
      return found;
    });
    const imported = ofBrowser.flat().flatMap((file) => {
      const values = readFileSync(file, 'utf8').replace(/^import type .*$/gm, '');
      return importsOf(file, values).filter((path) => path.startsWith('lib/'));
    });
    expect(imported.length).toBeGreaterThan(0);
    const silent = imported.filter(
      (path) => !readFileSync(path, 'utf8').startsWith('// The browser imports this file too'),
    );
    expect([...new Set(silent)]).toEqual([]);
  });

  it('has effects only if its kind says so, or if it is a step', () => {
    const withEffects = files
      .filter((file) => /^lib\/(?!aws\/|client\/)/.test(file) && !ofKindWithEffects(file))
      .filter((file) => {
        const code = readFileSync(file, 'utf8').replace(/^\s*(\/\*\*|\*|\/\/).*$/gm, '');
        return EFFECTS.test(code) || valuesOf(file).some((imported) => folderOf(imported) === 'aws');
      });
    expect(withEffects.sort()).toEqual(STEPS.toSorted());
  });

  it('is in the root or in a known folder', () => {
    const folders = new Set(files.map(folderOf).filter(Boolean));
    expect([...folders].sort()).toEqual([...SUBJECTS, ...OTHERS].sort());
  });

  it('has a unique name, unless the name is a kind of file', () => {
    const names = files
      .filter((file) => file.startsWith('lib/') && !file.startsWith('lib/client/'))
      .filter((file) => !KINDS.includes(basename(file, '.ts')))
      .map((file) => basename(file));
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });
});

describe('an export of lib/', () => {
  it('has a unique name, so that one word means one thing', () => {
    const EXPORT = /^export (?:async )?(?:const|function\*?|type|interface|class) (\w+)/gm;
    const filesOf = new Map<string, Set<string>>();
    for (const file of files.filter((each) => each.startsWith('lib/') && !each.startsWith('lib/client/')))
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(EXPORT))
        filesOf.set(name, (filesOf.get(name) ?? new Set()).add(file));
    expect(filesOf.size).toBeGreaterThan(500);
    expect([...filesOf].filter(([, { size }]) => size > 1).map(([name, each]) => [name, ...each])).toEqual([]);
  });
});

describe('the clock of the user', () => {
  it('can be wrong, so the dashboard uses it only to correct it and to measure idle time', () => {
    const users = files.filter(
      (file) =>
        file.startsWith('functions/site/dashboard/') && /Date\.now|new Date\(\)/.test(readFileSync(file, 'utf8')),
    );
    const state = 'functions/site/dashboard/state';
    expect(users).toEqual([`${state}/api.ts`, `${state}/remembered-key.ts`]);
  });
});

describe('a source file', () => {
  const lengthOf = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1;

  it('has at most 200 lines', () => {
    expect(sources.filter((file) => lengthOf(file) > 200)).toEqual([]);
  });
});
