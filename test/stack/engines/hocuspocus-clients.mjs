import { HocuspocusProvider } from '@hocuspocus/provider';
import * as Y from 'yjs';
import { runClients } from './clients.mjs';

runClients(async ({ url, token, names, count }) =>
  Array.from({ length: count }, (_, i) => {
    const name = names[i % names.length];
    const document = new Y.Doc();
    const provider = new HocuspocusProvider({ url, name, document, token });
    return {
      key: name,
      edit: (field) => document.getMap('fields').set(field, i),
      fields: () => document.getMap('fields').toJSON(),
      isAcknowledged: () => provider.isSynced && provider.unsyncedChanges === 0,
    };
  }),
);
