import { type Client, pagesOf } from './client.ts';

/**
 * Deletes the resources whose names start with the name of the run, including those whose response was lost. Connections expire
 * with their lease, and tokens stop working with their key. A revoked key remains in the list of keys.
 */
export async function cleanUp(name: string, admin: Client): Promise<void> {
  const left: string[] = [];
  const remove = async (
    list: string,
    isOurs: (entry: Entry) => boolean,
    removal: (entry: Entry) => [string, string],
  ) => {
    try {
      const entries: Entry[] = [];
      for await (const { status, json } of pagesOf(admin, list)) {
        if (status !== 200) throw new Error(`${list}: ${status}`);
        entries.push(...json.data.filter(isOurs));
      }
      for (const entry of entries) {
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
