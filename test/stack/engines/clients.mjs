/**
 * Edits documents with several clients, until the parent sends a message. Then sends it each replica and the edits of each document, when
 * the server has acknowledged all edits and the replicas of each document are equal. Skips a busy client: a server with a slow disk would
 * not keep up with edits at a fixed rate.
 */
export async function runClients(connect) {
  process.once('disconnect', () => process.exit());
  const options = JSON.parse(process.argv[2]);
  const clients = await connect(options);
  const edits = {};
  let next = 0;
  const timer = setInterval(() => {
    const client = clients[next % clients.length];
    const field = `edit-${next++}`;
    if (client.isBusy?.()) return;
    edits[client.key] = [...(edits[client.key] ?? []), field];
    client.edit(field);
  }, 1000 / options.perSecond);
  process.send(clients.map(({ key }) => key));

  const isDone = () =>
    clients.every(({ key, isAcknowledged, fields }) => {
      const names = Object.keys(fields());
      return isAcknowledged() && (edits[key] ?? []).every((field) => names.includes(field));
    });
  process.once('message', async () => {
    clearInterval(timer);
    while (!isDone()) {
      for (const { refresh } of clients) await refresh?.().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    process.send({ edits, replicas: clients.map(({ key, fields }) => [key, fields()]) });
  });
}
