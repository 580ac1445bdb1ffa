import { startMetered } from './metered.ts';
import type { Usage } from './usage.ts';

const DOCUMENTS = 1000;
const BYTES = 4000;
const PUSHES = 25;

/** Measures the usage of a sync cycle over 1,000 known documents of 4 KB, by the number of changed documents. */
export async function usageOfSync(assembly: string): Promise<Record<string, Usage>> {
  const { meter, send, atRest, stop } = await startMetered(assembly, 1);
  const keys = Array.from({ length: DOCUMENTS }, (_, i) => `org:acme:project:doc-${String(i).padStart(8, '0')}`);
  const sync = (request: object) => send('POST', '/v1/sync', { node_id: 'bench', pattern: 'org:acme:*', ...request });
  const known = Object.fromEntries(keys.map((key) => [key, 1]));
  const push = (fields: object) => (document_key: string) => ({
    op: 'put',
    document_key,
    base_revision: 0,
    fields: { text: 'a'.repeat(BYTES), ...fields },
  });
  for (let i = 0; i < DOCUMENTS; i += PUSHES) await sync({ push: keys.slice(i, i + PUSHES).map(push({})), limit: 1 });
  const usage: Record<string, Usage> = {};
  for (const changed of [0, 10]) {
    for (const key of keys.slice(0, changed)) await send('PATCH', `/v1/documents/${key}`, { fields: { changed } });
    await atRest();
    meter.take();
    await sync({ push: [], known });
    usage[`${changed} of ${DOCUMENTS} changed`] = meter.take();
    await atRest();
  }
  await stop();
  return usage;
}
