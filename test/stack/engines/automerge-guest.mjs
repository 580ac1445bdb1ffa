import { Repo } from '@automerge/automerge-repo';
import { WebSocketClientAdapter } from '@automerge/automerge-repo-network-websocket';

// Edits a document with its token, and reports to the parent when the connection is open and when it has ended. Leaves at any message.
process.once('disconnect', () => process.exit());
process.on('uncaughtException', () => process.send('rejected')); // the adapter throws the response of the server
const { url, name, token, field } = JSON.parse(process.argv[2]);
const adapter = new WebSocketClientAdapter(`${url}?token=${token}`, 60_000);
const repo = new Repo({ network: [adapter] });
adapter.on('peer-disconnected', () => process.send('ended'));
// A repository that has no peer yet finds nothing.
adapter.once('peer-candidate', () => {
  repo.find(name).then(
    (handle) => {
      handle.change((document) => {
        document[field] = 1;
      });
      process.send('connected');
    },
    () => process.send('unavailable'),
  );
});
process.once('message', () => adapter.socket.close());
