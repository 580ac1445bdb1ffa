import { type Client, pagesOf } from './client.ts';

/**
 * Removes what a run created, by its name: what a request created whose response was lost, too. Connections end with their
 * lease, tokens with their key; a revoked key stays in the list of keys.
 */
export async function cleanUp(name: string, admin: Client): Promise<void> {
  const left: string[] = [];
  const remove = async (
    list: string,
    isOurs: (entry: Entry) => boolean,
    removal: (entry: Entry) => [string, string],
  ) => {
    try {
      const found: Entry[] = [];
      for await (const { status, json } of pagesOf(admin, list)) {
        if (status !== 200) throw new Error(`${list}: ${status}`);
        found.push(...json.data.filter(isOurs));
      }
      for (const entry of found) {
        const { request, status } = await admin(...removal(entry));
        if (status >= 300 && status !== 404) left.push(`${request}: ${status}`);
      }
    } catch (error) {
      left.push((error as Error).message);
    }
  };
  await remove(
    '/v1/webhooks?environment=sandbox&limit=100',
    ({ description }) => description === name,
    ({ id }) => ['DELETE', `/v1/webhooks/${id}?environment=sandbox`],
  );
  await remove(
    `/v1/documents?environment=sandbox&limit=100&prefix=${name}`,
    () => true,
    ({ document_key }) => ['DELETE', `/v1/documents/${document_key}?environment=sandbox`],
  );
  await remove(
    '/v1/keys?limit=100',
    (key) => key.name === name && key.status !== 'revoked',
    ({ id }) => ['POST', `/v1/keys/${id}/revoke`],
  );
  if (left.length > 0) throw new Error(`resources of ${name} are left: ${left.join('; ')}`);
}

interface Entry {
  id: string;
  name: string | null;
  status: string;
  description: string | null;
  document_key: string;
}
