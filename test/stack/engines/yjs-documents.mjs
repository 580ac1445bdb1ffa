import { documentSync } from '@document-sync-service/client/hocuspocus';
import { Database } from '@hocuspocus/extension-database';
import { Hocuspocus } from '@hocuspocus/server';
import { TiptapTransformer } from '@hocuspocus/transformer';
import StarterKit from '@tiptap/starter-kit';
import * as Y from 'yjs';
import { events, log, recording } from './recorder.mjs';

/*
 * Changes documents of a Hocuspocus server that stores them in memory, restarts it before each change, and prints what the service receives of
 * each document, what the log says and what is stored.
 */
const states = new Map();

/** Without `act`, it only loads the document. */
async function change(name, act, options = {}) {
  const sync = documentSync({ ...recording, ...options });
  const database = new Database({
    fetch: async ({ documentName }) => states.get(documentName) ?? null,
    store: async ({ documentName, state }) => void states.set(documentName, state),
  });
  const server = new Hocuspocus({ extensions: [database, sync], debounce: 0, quiet: true });
  const connection = await server.openDirectConnection(name);
  if (act) await connection.transact(act);
  if (act) await connection.disconnect(); // stores the document
  await sync.onDestroy();
}

/** Returns the stored content of a map. */
function storedIn(name, map) {
  const document = new Y.Doc();
  Y.applyUpdate(document, states.get(name));
  return [...document.getMap(map).keys()];
}
const fieldsOf = (document) => document.getMap('fields');
/** Adds maps inside each other, one at a time, because Yjs adds a whole tree with recursion. */
const nest = (map, depth) => {
  let last = map;
  for (let i = 0; i < depth; i++) last = last.set('in', new Y.Map());
};
const large = (letter, kilobytes = 200) => letter.repeat(kilobytes * 1024);

// Every type, and then a change of one field by a server that has not defined the others.
await change('types', (document) => {
  const inner = new Y.Map([
    ['list', Y.Array.from([1, [2], { a: null }])],
    ['__proto__', 'p'],
  ]);
  fieldsOf(document).set('inner', inner);
  fieldsOf(document).set('id', 10n);
  fieldsOf(document).set('bytes', new Uint8Array([1, 2, 3]));
  fieldsOf(document).set('none', Number.NaN);
  fieldsOf(document).set('document', new Y.Doc());
  document.getText('text').insert(0, 'plain ');
  document.getText('text').insert(6, 'bold', { bold: true });
  document.getText('text').insertEmbed(10, { image: 'x' });
  document.getArray('list').push([1, new Y.Text('in a list'), { deep: [1n] }]);
  document.getText('empty');
  document.getText('emptied').insert(0, 'x');
  document.getText('emptied').delete(0, 1);
});
await change('types', (document) => document.getText('text').insert(0, 'very '));
await change('types', (document) => document.getText('text').delete(0, 100));

const bold = { type: 'text', text: 'bold', marks: [{ type: 'bold' }] };
const link = {
  type: 'link',
  attrs: {
    href: 'https://example.com',
    target: '_blank',
    rel: 'noopener noreferrer nofollow',
    class: null,
    title: null,
  },
};
const article = {
  type: 'doc',
  content: [
    { type: 'heading', attrs: { level: 2 }, content: [{ type: 'text', text: 'Title' }] },
    {
      type: 'paragraph',
      content: [{ type: 'text', text: 'Some ' }, bold, { type: 'text', text: ' a', marks: [link] }],
    },
    { type: 'bulletList', content: [{ type: 'listItem', content: [{ type: 'paragraph' }] }] },
    { type: 'horizontalRule' },
  ],
};
const state = Y.encodeStateAsUpdate(TiptapTransformer.toYdoc(article, 'default', [StarterKit]));
await change('tiptap', (document) => Y.applyUpdate(document, state));
await change('tiptap', (document) => document.getXmlFragment('default').get(0).get(0).insert(5, '!'));

// Values that are no JSON, or too deep.
await change('hostile', (document) => {
  fieldsOf(document).set('id', 10n);
  nest(fieldsOf(document), 20_000);
});
for (const field of ['a', 'b']) await change('hostile', (document) => fieldsOf(document).set(field, 1));

// Large values.
await change('large', (document) => fieldsOf(document).set('text', large('a')));
await change('large', (document) => fieldsOf(document).set('text', large('b')));
await change('large', (document) => fieldsOf(document).set('title', 'T'));
await change('large', (document) => fieldsOf(document).set('text', large('c', 300)));
await change('large', (document) => fieldsOf(document).set('title', 'U'));

// Two clients write the members of a map, whose order changes when the document is loaded.
const clients = [2, 1].map((clientID) => Object.assign(new Y.Doc(), { clientID }));
clients[0].getMap('fields').set('settings', new Y.Map());
Y.applyUpdate(clients[1], Y.encodeStateAsUpdate(clients[0]));
clients[0].getMap('fields').get('settings').set('theme', 'dark');
clients[1].getMap('fields').get('settings').set('lang', 'de');
await change('order', (document) => {
  for (const client of clients) Y.applyUpdate(document, Y.encodeStateAsUpdate(client));
});
for (const title of ['A', 'B']) await change('order', (document) => fieldsOf(document).set('title', title));

// Fields of the application, also if they fail.
await change('own', (document) => fieldsOf(document).set('title', 'T'), {
  fields: (document) => ({ keys: [...fieldsOf(document).keys()], map: fieldsOf(document) }),
});
const failing = {
  fields: () => {
    throw new Error('no fields');
  },
};
await change('failing', (document) => fieldsOf(document).set('title', 'T'), failing);
await change('failing');
await change('missing');
await change('bad name ', (document) => fieldsOf(document).set('title', 'T'));
await change('org::a', (document) => fieldsOf(document).set('title', 'T'));

const received = Map.groupBy(events, ({ data }) => data.document_key);
const stored = {
  hostile: storedIn('hostile', 'fields'),
  failing: storedIn('failing', 'fields'),
  invalid: storedIn('org::a', 'fields'),
};
process.stdout.write(JSON.stringify({ received: Object.fromEntries(received), log, stored, article }), () =>
  process.exit(),
);
