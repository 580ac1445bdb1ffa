import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { snippetsIn } from '../../../../functions/site/docs/render/guides.ts';
import { applyChange } from '../../../../lib/client/replica.ts';
import { temporaryDirectory } from '../../../support/after-file.ts';
import { memoryService } from '../../../support/memory-service.ts';
import { createWebhook } from '../../../support/requests.ts';

const guide = readFileSync('functions/site/docs/guides/receiving.md', 'utf8');
const code = snippetsIn(guide, 'Keep a copy of the documents');
const directory = temporaryDirectory();

function fileWith(name: string, text = ''): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

const name = fc.constantFrom('a', 'b', 'c', '__proto__');
const value = fc.constantFrom(null, 0, 1, 'x', false, [null], { y: 1 });
const write = fc.record({
  by: fc.constantFrom('request', 'sync'),
  op: fc.constantFrom('put', 'patch', 'patch', 'delete'),
  fields: fc.uniqueArray(fc.tuple(name, value), { selector: ([field]) => field, maxLength: 4 }),
  base_revision: fc.nat({ max: 4 }),
});
/** Writes to a document, and the places at which each of their events arrives. */
const history = fc.record({
  writes: fc.array(write, { minLength: 1, maxLength: 12 }),
  places: fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), { minLength: 12, maxLength: 12 }),
});
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

/** A service that performs the writes of a history. */
async function recorder() {
  const service = memoryService();
  const client = await (await service.project()).client('live');
  const endpoint = service.endpoint();
  await createWebhook(client, endpoint.url);
  let documents = 0;

  /** Returns the events as they arrive, in any order and with duplicates, and the document after all writes. */
  return async ({ writes, places }: History) => {
    const document_key = `org:acme:${++documents}`;
    const path = `/v1/documents/${document_key}`;
    for (const { by, op, fields: entries, base_revision } of writes) {
      const content = op === 'delete' ? {} : { fields: Object.fromEntries(entries) };
      const push = [{ op, document_key, base_revision, ...content }];
      const sync = { node_id: 'n', pattern: document_key, push, known: {} };
      if (by === 'sync') await client('POST', '/v1/sync', { body: sync });
      else await client(op.toUpperCase(), path, op === 'delete' ? {} : { body: content });
    }
    await service.settle();
    const sent = endpoint.received.splice(0).map(({ body }) => JSON.parse(body));
    const own = sent.filter(({ data }) => data.document_key === document_key);
    const arriving = own.flatMap((event, i) => (places[i] ?? [0]).map((place) => ({ event, place })));
    const events = arriving.sort((a, b) => a.place - b.place).map(({ event }) => event);
    const { status, body } = await client('GET', path);
    return { document_key, events, fields: status === 200 ? body.fields : null };
  };
}

it('keeps an equal copy of a document from its events in any order: javascript', async () => {
  const source = pathToFileURL(resolve('lib/client/replica.ts')).href;
  const file = fileWith('copy.mjs', code.get('javascript')?.replace('@document-sync-service/client', source));
  const { apply, read } = await import(/* @vite-ignore */ pathToFileURL(file).href);
  const record = await recorder();
  const property = fc.asyncProperty(history, async (given) => {
    const { document_key, events, fields } = await record(given);
    for (const event of events) apply(event);
    expect(read(document_key)).toEqual(fields);
  });
  await fc.assert(property);
});

it('keeps an equal copy of a document from its events in any order: python', async () => {
  const record = await recorder();
  const recorded: Awaited<ReturnType<typeof record>>[] = [];
  for (const given of fc.sample(history, 50)) recorded.push(await record(given));
  const program = `import json, sys
${code.get('python')}
for line in sys.stdin:
    given = json.loads(line)
    for event in given["events"]:
        apply(event)
    print(json.dumps(read(given["document_key"])))`;
  const input = recorded.map((each) => JSON.stringify(each)).join('\n');
  const printed = execFileSync('python3', [fileWith('copy.py', program)], { input, encoding: 'utf8' });
  const copies = printed.trim().split('\n');
  expect(copies.map((copy) => JSON.parse(copy))).toEqual(recorded.map(({ fields }) => fields));
});

it('changes a replica that an earlier version of the npm package stored as JSON', () => {
  const kept = { a: { value: 1, revision: 2 }, b: { value: null, revision: 3 } };
  const stored = JSON.stringify({ revision: 3, cleared: 1, fields: { ...kept, c: { value: 1, revision: 2 } } });
  const data = { revision: 4, changes: [{ field: 'c', new_value: 'x' }] };
  expect(applyChange(JSON.parse(stored), { type: 'document.changed', data })).toEqual({
    revision: 4,
    cleared: 1,
    fields: { ...kept, c: { value: 'x', revision: 4 } },
  });
});
