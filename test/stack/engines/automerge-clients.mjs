import { Repo } from '@automerge/automerge-repo';
import { WebSocketClientAdapter } from '@automerge/automerge-repo-network-websocket';
import { runClients } from './clients.mjs';

// The adapter reconnects, but throws the error of a connection that the killed server reset, or that the server rejected because the
// service did not verify the token in time.
process.on('uncaughtException', (error) => {
  if (error.code !== 'ECONNRESET' && error.message !== 'Unexpected server response: 503') throw error;
});

runClients(async ({ url, token, names, count }) => {
  const newRepo = () => new Repo({ network: [new WebSocketClientAdapter(`${url}?token=${token}`, 500)] });
  const replicas = [];
  for (const _ of names) {
    const first = newRepo();
    const handle = first.create({ edits: 0 });
    replicas.push(replica(handle));
    for (let i = 1; i < count / names.length; i++) replicas.push(replica(await found(newRepo(), handle.url)));
  }
  return replicas;
});

/** Finds a document, which can be on the server only after a moment. */
async function found(repo, url) {
  for (;;) {
    const handle = await repo.find(url).catch(() => null);
    if (handle) return handle;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function replica(handle) {
  return {
    key: `automerge:${handle.documentId}`,
    edit: (field) =>
      handle.change((document) => {
        document[field] = 1;
      }),
    fields: () => ({ ...handle.doc() }),
    isAcknowledged: () => true, // each replica must have the edits of all others
  };
}
