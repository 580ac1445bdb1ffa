import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { snippetsIn, verification } from '../../../../functions/site/docs/render/guides.ts';
import { allOperations } from '../../../../lib/api/operations.ts';
import { CAUSES } from '../../../../lib/deliveries/failure-causes.ts';
import { FAILURES } from '../../../../lib/deliveries/failure-codes.ts';
import { isPattern, matchesPattern } from '../../../../lib/documents/patterns.ts';
import { temporaryDirectory } from '../../../support/after-file.ts';
import { memoryService } from '../../../support/memory-service.ts';
import { createWebhook, publish } from '../../../support/requests.ts';

const guide = (name: string) => readFileSync(`functions/site/docs/guides/${name}.md`, 'utf8');

const directory = temporaryDirectory();

/** Wraps the snippet of each language in a program that prints whether each header is genuine. An empty one is missing. */
const PROGRAMS: Record<string, { command: [string, ...string[]]; file: string; around(code: string): string }> = {
  javascript: {
    command: [process.execPath],
    file: 'verify.mjs',
    around: (code) => `${code}
const [secret, body, ...headers] = process.argv.slice(2);
console.log(headers.map((header) => isGenuine(secret, Buffer.from(body), header || undefined)).join());`,
  },
  python: {
    command: ['python3'],
    file: 'verify.py',
    around: (code) => `import sys
${code}
secret, body, *headers = sys.argv[1:]
print(",".join(str(is_genuine(secret, body.encode(), header or None)).lower() for header in headers))`,
  },
  go: {
    command: ['go', 'run'],
    file: 'verify.go',
    around: (
      code,
    ) => `${code.replace('package webhook', 'package main').replace('import (', 'import (\n"fmt"\n"os"\n"strings"\n')}
func main() {
  results := []string{}
  for _, header := range os.Args[3:] { results = append(results, fmt.Sprint(IsGenuine(os.Args[1], []byte(os.Args[2]), header))) }
  fmt.Println(strings.Join(results, ","))
}`,
  },
  java: {
    command: ['java'],
    file: 'Signature.java',
    around: (code) =>
      code.replace(
        'class Signature {',
        `class Signature {
  public static void main(String[] given) throws Exception {
    String results = "";
    for (int i = 2; i < given.length; i++) results += (i > 2 ? "," : "") + isGenuine(given[0], given[1].getBytes("UTF-8"), given[i].isEmpty() ? null : given[i]);
    System.out.println(results);
  }`,
      ),
  },
  php: {
    command: ['php'],
    file: 'verify.php',
    around: (code) => `${code}
[, $secret, $body] = $argv;
echo implode(',', array_map(fn($header) => is_genuine($secret, $body, $header ?: null) ? 'true' : 'false', array_slice($argv, 3)));`,
  },
  ruby: {
    command: ['ruby'],
    file: 'verify.rb',
    around: (code) => `${code}
secret, body, *headers = ARGV
puts headers.map { |header| genuine?(secret, body, header.empty? ? nil : header) }.join(',')`,
  },
};

/** Java needs a compiler to run a source file. */
const canRun = (language: string): boolean => {
  const [command] = PROGRAMS[language]?.command ?? [''];
  const tried = language === 'java' ? spawnSync('javac', ['-version']) : spawnSync(command, ['--help']);
  return tried.error === undefined;
};

describe('a signature', () => {
  const byHand = snippetsIn(guide('receiving'), 'Verify by hand');

  it('is verified in six languages without a library', () => {
    expect([...byHand.keys()]).toEqual(Object.keys(PROGRAMS));
    expect(canRun('javascript') && canRun('python')).toBe(true);
  });

  it.each(Object.keys(PROGRAMS).filter(canRun))('is distinguished from a forged one: %s', (language) => {
    const program = PROGRAMS[language];
    const file = join(directory, program?.file ?? '');
    writeFileSync(file, program?.around(byHand.get(language) ?? '') ?? '');
    const [secret, body] = ['whsec_c2VjcmV0', '{"text":"Füße 😀"}'];
    const genuine = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const forged = `sha256=${createHmac('sha256', 'other').update(body).digest('hex')}`;
    const [command, ...args] = program?.command ?? [''];
    const printed = execFileSync(command, [...args, file, secret, body, genuine, forged, 'sha256=', 'é', ''], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C.UTF-8' }, // the encoding of arguments in Java
    });
    expect(printed.trim()).toBe('true,false,false,false,false');
  });

  it('is verified the same way in the dashboard', () => {
    expect(verification()).toEqual(
      ['JavaScript', 'Python', 'Go', 'Java', 'PHP', 'Ruby'].map((name) => [
        name,
        expect.stringMatching(/verify\(/i),
        byHand.get(name.toLowerCase()),
      ]),
    );
  });

  it('is verified the same way in the README', () => {
    const readme = snippetsIn(readFileSync('README.md', 'utf8'), 'Verifying signatures');
    expect(readme.get('js')).toBe(byHand.get('javascript'));
  });
});

it('has a correct table of patterns', () => {
  const rows = [...guide('tokens').matchAll(/^\| `([^`]+)` \| `([^`]+)` \| (yes|no|invalid) \|$/gm)];
  expect(rows.length).toBeGreaterThan(5);
  for (const [row, pattern = '', key = '', said] of rows) {
    const outcome = isPattern(pattern) ? (matchesPattern(pattern, key) ? 'yes' : 'no') : 'invalid';
    expect(outcome, row).toBe(said);
  }
});

describe('the guide to troubleshooting', () => {
  it('has a fix for every error of an attempt', () => {
    const fixes = [...guide('troubleshooting').matchAll(/^\| (`[a-z_0-9`, ]+`) \| \S/gm)].flatMap(([, codes = '']) =>
      [...codes.matchAll(/`([a-z_0-9]+)`/g)].map(([, code]) => code),
    );
    expect(fixes.sort()).toEqual(Object.keys(FAILURES).sort());
  });

  it('has a fix for every cause, with its text and its names', () => {
    const rows = [...guide('troubleshooting').matchAll(/^\| ([^`|]+) \| (`[A-Z`, _\d/]+`) \| \S/gm)];
    expect(rows.map(([, text]) => text)).toEqual(CAUSES.map(({ text }) => text));
    for (const [, text, names = ''] of rows)
      for (const name of names.split(', '))
        expect(CAUSES.find(({ reason }) => reason.test(name.replaceAll('`', '')))?.text, name).toBe(text);
  });
});

it('shows a problem and a delivery as the service sends them', async () => {
  const service = memoryService();
  const client = await (await service.project()).client('live');
  const problem = JSON.parse(snippetsIn(guide('conventions'), 'Errors').get('json') ?? '');
  const { body } = await client('POST', '/v1/tokens', { body: { documents: ['a'], permissions: ['read'], ttl: 0 } });
  const type = body.type.replace(/^.*(?=\/docs)/, '{base_url}');
  expect({ ...body, type, request_id: '…' }).toEqual(problem);

  const endpoint = service.endpoint();
  await createWebhook(client, endpoint.url);
  await publish(client);
  await service.settle();
  const shown = snippetsIn(guide('receiving'), 'The request').get('http') ?? '';
  const [sent] = endpoint.received;
  const headers = Object.keys(sent?.headers ?? {}).map((name) => name.toLowerCase());
  const stated = [...shown.matchAll(/^([\w-]+): /gm)].map(([, name = '']) => name.toLowerCase());
  expect(headers).toEqual(expect.arrayContaining(stated));
  expect([...shown.matchAll(/"(\w+)":/g)].map(([, name]) => name)).toEqual(Object.keys(JSON.parse(String(sent?.body))));
});

const names = readdirSync('functions/site/docs/guides').map((file) => file.replace('.md', ''));

it('sets every variable of a command on the same page, and each name has one meaning', () => {
  const used = names.flatMap((name) => {
    const commands = [...guide(name).matchAll(/```bash\n([\s\S]*?)```/g)].map(([, text = '']) => text).join('');
    return [...commands.matchAll(/"?\$([A-Z_]+)/g)].map(({ 1: variable = '', index }) => {
      const before = commands.slice(0, index);
      const [, value] = before.match(new RegExp(`^(?:export )?(?:\\w+=\\S+ )*${variable}=(.*)$`, 'm')) ?? [];
      return { name, variable, value };
    });
  });
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter(({ value }) => value === undefined)).toEqual([]);
  const webhooks = names.flatMap((name) => [...guide(name).matchAll(/^WEBHOOK=(.*)$/gm)].map(([, value]) => value));
  expect(webhooks).toEqual(webhooks.map(() => expect.stringMatching(/^whk_|\)\.id'\)$/)));
  expect(webhooks.length).toBe(3);
});

it('sends no key, secret or sync_id that all readers would share', () => {
  const texts = [
    ...names.map(guide),
    ...['README.md', 'lib/client/README.md'].map((file) => readFileSync(file, 'utf8')),
  ];
  const commands = texts.flatMap((text) => text.match(/```(?:bash|sh)\n[\s\S]*?```/g) ?? []).join('');
  expect(commands).toMatch(/Idempotency-Key[\s\S]*"secret":|"secret":[\s\S]*Idempotency-Key/);
  expect(commands).not.toMatch(/(?:Idempotency-Key:|"(?:secret|sync_id)":|\bSECRET=)(?![ "']*(?:whsec_)?\$)/);
});

it('names only operations that exist', () => {
  const shapeOf = (path: string) => path.replace(/\{[^}]+\}/g, '{}');
  const known = new Set(allOperations.map(({ method, path }) => `${method} ${shapeOf(path)}`));
  const named = names.flatMap((name) =>
    [...guide(name).matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/v1\/[^\s`?]+)/g)].map(([, method, path = '']) => [
      name,
      `${method} ${shapeOf(path)}`,
    ]),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(([, operation = '']) => !known.has(operation))).toEqual([]);
});
