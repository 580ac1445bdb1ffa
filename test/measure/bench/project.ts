import type { LocalStack } from '../../../infra/local/stack.ts';

/** Creates a project. `send` and `post` call the API with its admin key, and throw if the request fails. */
export async function createProject(stack: LocalStack, name = 'Bench') {
  const { project, admin_key } = (await stack.invoke('CreateProject', {
    name,
    email: 'bench@example.com',
  })) as { project: { id: string }; admin_key: { key: string } };
  const { key: adminKey } = admin_key;
  const send = async (
    method: string,
    path: string,
    body: unknown,
    more: Record<string, string> = {},
  ): Promise<string> => {
    const headers = { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json', ...more };
    const response = await fetch(stack.baseUrl + path, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  };
  const post = async (path: string, body: unknown): Promise<{ id?: string; token?: string }> =>
    JSON.parse(await send('POST', path, body));
  return { id: project.id, adminKey, send, post };
}
