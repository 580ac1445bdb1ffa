import type { LocalStack } from '../../infra/local/stack.ts';

/** A new project. `post` calls the API with its admin key, and throws what is not a success. */
export async function createProject(stack: LocalStack) {
  const { project, admin_key } = (await stack.invoke('CreateProject', {
    name: 'Bench',
    email: 'bench@example.com',
  })) as { project: { id: string }; admin_key: { key: string } };
  const { key: adminKey } = admin_key;
  return {
    id: project.id,
    adminKey,
    async post(path: string, body: unknown): Promise<{ id?: string; token?: string }> {
      const headers = { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' };
      const response = await fetch(stack.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(await response.text());
      return response.json();
    },
  };
}
