import { runClients } from './clients.mjs';

runClients(async ({ url, token, names, count }) =>
  Array.from({ length: count }, (_, i) => {
    const name = names[i % names.length];
    const address = `${url}/documents/${encodeURIComponent(name)}`;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const pending = new Set();
    let fields = {};

    /** Repeats a change until the server confirms it. */
    async function send(body) {
      pending.add(body);
      for (;;) {
        const response = await fetch(address, { method: 'PATCH', headers, body }).catch(() => null);
        if (response?.ok) break;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      pending.delete(body);
      fields = await (await fetch(address, { headers })).json();
    }
    return {
      key: name,
      edit: (field) => void send(JSON.stringify({ [field]: i })).catch(() => {}),
      fields: () => fields,
      isBusy: () => pending.size > 2,
      isAcknowledged: () => pending.size === 0,
      refresh: async () => {
        fields = await (await fetch(address, { headers })).json();
      },
    };
  }),
);
