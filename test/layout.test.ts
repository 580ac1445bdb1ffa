import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The folders of lib/ by level. A file can import only from lower levels and from its own folder. */
const FLOORS = [
  ['ground', 'client'],
  ['access', 'events'],
  ['documents', 'webhooks'],
  ['deliveries'],
  ['delivery'],
  ['api'],
  ['http', 'openapi'],
  ['handlers', 'aws'],
];

const IMPORT = /(?:from|import) '(\.{1,2}\/[^']+)'/g;
const files = ['functions', 'infra', 'lib'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name)),
);
const importsOf = (file: string, text = readFileSync(file, 'utf8')): string[] =>
  [...text.matchAll(IMPORT)].map(([, path = '']) => normalize(join(dirname(file), path)));

/** Returns the folder of a file in lib/. A file in the root belongs to the lowest level. */
function roomOf(file: string): string | undefined {
  const [folder, room, rest] = file.split('/');
  if (folder !== 'lib') return undefined;
  return rest === undefined ? 'ground' : room;
}
const floorOf = (room: string): number => FLOORS.findIndex((rooms) => rooms.includes(room));

/** Returns why a file must not import another one, or `null`. */
function objectionTo(file: string, imported: string): string | null {
  const [from, to] = [roomOf(file), roomOf(imported)];
  if (to === undefined) return from === undefined ? null : 'lib/ stands on nothing but itself';
  if (to === 'aws' && from !== 'aws' && !/^(functions|infra\/commands)\//.test(file))
    return 'only functions/ and infra/commands/ use lib/aws/';
  if (from === undefined || from === to || floorOf(to) < floorOf(from)) return null;
  return `${from} does not stand on ${to}`;
}

describe('an import', () => {
  it('goes only to lower folders, and only functions and commands import AWS', () => {
    const objections = files.flatMap((file) =>
      importsOf(file).flatMap((imported) => {
        const objection = objectionTo(file, imported);
        return objection === null ? [] : [`${file} -> ${imported}: ${objection}`];
      }),
    );
    expect(objections).toEqual([]);
  });

  it.each([
    ['lib/delivery/deliver.ts', 'lib/aws/log.ts'],
    ['lib/handlers/keys.ts', 'lib/aws/dynamodb/keys.ts'],
    ['lib/aws/dynamodb/keys.ts', 'lib/handlers/keys.ts'],
    ['lib/access/keys.ts', 'lib/webhooks/webhooks.ts'],
    ['lib/documents/merge.ts', 'lib/webhooks/webhooks.ts'],
    ['lib/json.ts', 'lib/access/keys.ts'],
    ['lib/http/serve.ts', 'infra/settings.ts'],
    ['infra/stack.ts', 'lib/aws/log.ts'],
  ])('of %s may not be %s', (file, imported) => {
    expect(objectionTo(file, imported)).not.toBeNull();
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

  it('is in a folder of the table', () => {
    const rooms = new Set(files.map(roomOf).filter((room) => room !== undefined));
    expect([...rooms].sort()).toEqual(FLOORS.flat().sort());
  });
});

describe('a source file', () => {
  const sources = ['functions', 'infra', 'lib'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(tsx?|css|py)$/.test(name))
      .map((name) => join(folder, name)),
  );
  const lengthOf = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1;

  it('has at most 200 lines', () => {
    expect(sources.filter((file) => lengthOf(file) > 200)).toEqual([]);
  });

  it('has a median below 80 lines in lib/', () => {
    const lengths = sources.filter((file) => file.startsWith('lib/')).map(lengthOf);
    expect(lengths.sort((a, b) => a - b)[Math.floor(lengths.length / 2)]).toBeLessThan(80);
  });
});
