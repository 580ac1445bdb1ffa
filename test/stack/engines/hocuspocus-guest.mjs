import { HocuspocusProvider } from '@hocuspocus/provider';

// Edits a document with its token, and reports to the parent when the connection is open and when it has ended. Leaves at any message.
process.once('disconnect', () => process.exit());
const { url, name, token, field } = JSON.parse(process.argv[2]);
const provider = new HocuspocusProvider({
  url,
  name,
  token,
  onSynced: () => {
    provider.document.getMap('fields').set(field, 1);
    process.send('connected');
  },
  onAuthenticationFailed: () => process.send('rejected'),
  onClose: () => process.send('ended'),
});
process.once('message', () => provider.destroy());
