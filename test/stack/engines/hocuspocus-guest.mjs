import { HocuspocusProvider } from '@hocuspocus/provider';

// Edits with a token that can only read, and reports to the parent when the connection is open and when it has ended.
process.once('disconnect', () => process.exit());
const { url, name, token } = JSON.parse(process.argv[2]);
const provider = new HocuspocusProvider({
  url,
  name,
  token,
  onAuthenticated: () => {
    provider.document.getMap('fields').set('forbidden', 1);
    process.send('connected');
  },
  onAuthenticationFailed: () => process.send('rejected'),
  onClose: () => process.send('ended'),
});
