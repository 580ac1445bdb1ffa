import { Counter, ImmutableString, Repo } from '@automerge/automerge-repo';
import { NodeFSStorageAdapter } from '@automerge/automerge-repo-storage-nodefs';
import { documentSync } from '@document-sync-service/client/automerge';
import { events, log, recording } from './recorder.mjs';

/*
 * Changes a document of an automerge-repo that is restarted before each change, and prints what the service receives of it, what the log says
 * and what is stored.
 */
let url;

async function change(act, options = {}) {
  const sync = documentSync({ ...recording, ...options });
  await sync.ready();
  const repo = new Repo({ storage: new NodeFSStorageAdapter('automerge'), shareConfig: sync.shareConfig });
  sync.start({ repo, sockets: { on() {} }, network: { sockets: {} } });
  const handle = url ? await repo.find(url) : repo.create({});
  ({ url } = handle);
  if (act) handle.change(act);
  await repo.flush();
  await new Promise((resolve) => setTimeout(resolve, 300)); // the storage debounces
  const stored = Object.keys(handle.doc());
  if (act === undefined) repo.delete(url);
  await sync.close();
  return stored;
}
const nested = (depth) => {
  let value = 1;
  for (let i = 0; i < depth; i++) value = { in: value };
  return value;
};

await change((document) => {
  Object.assign(document, { title: 'Text', count: new Counter(3), at: new Date(0), bytes: new Uint8Array([1, 2, 3]) });
  Object.assign(document, {
    big: 2n ** 60n,
    fixed: new ImmutableString('fixed'),
    list: [1, { a: null }],
    none: Number.NaN,
  });
});
await change((document) => {
  document.count.increment(2);
  document.title = 'Text';
});
await change((document) => {
  document.deep = nested(500);
});
await change((document) => {
  document.large = 'a'.repeat(300 * 1024);
  document.title = 'After';
});
const failing = {
  fields: () => {
    throw new Error('no fields');
  },
};
await change((document) => void Object.assign(document, { last: 1 }), failing);
const stored = await change();
process.stdout.write(
  JSON.stringify({ received: { document: events }, key: `automerge:${url.split(':')[1]}`, log, stored }),
  () => process.exit(),
);
