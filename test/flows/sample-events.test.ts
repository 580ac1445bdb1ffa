import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useService } from '../support/service.ts';

const service = useService();
const sample = (name: string) => JSON.parse(readFileSync(`test/events/${name}.json`, 'utf8'));
/** Functions of the template, by the name of their file. */
const functions: Record<string, string> = {
  authorizer: 'Authorize',
  'check-connection': 'ConnectionsCheck',
  'create-project': 'CreateProject',
  dashboard: 'Dashboard',
  deliver: 'DeliveryDeliver',
  documents: 'Documents',
  events: 'Events',
  'fan-out': 'DeliveryFanOut',
  keys: 'Keys',
  tokens: 'Tokens',
  webhooks: 'Webhooks',
};

describe('a sample event', () => {
  it('is there for every function', () => {
    const samples = readdirSync('test/events').map((file) => file.replace('.json', ''));
    expect(samples.sort()).toEqual(Object.keys(functions).sort());
    const files = readdirSync('functions').map((file) => file.replace('.ts', ''));
    expect(files.sort()).toEqual(samples);
    expect(existsSync('functions/dashboard/server.ts')).toBe(true);
  });

  it.each([
    ['create-project', { project: { name: 'Acme' } }],
    ['keys', { statusCode: 201 }],
    ['dashboard', { statusCode: 200 }],
    ['webhooks', { statusCode: 201 }],
    ['events', { statusCode: 202 }],
    ['documents', { statusCode: 201 }],
    ['fan-out', { batchItemFailures: [] }],
    ['deliver', { batchItemFailures: [] }],
    ['check-connection', { batchItemFailures: [] }],
  ])('of %s is answered', async (name, answer) => {
    expect(await service.stack.invoke(functions[name] ?? '', sample(name))).toMatchObject(answer);
  });

  it('of the authorizer has a key that is unknown here', async () => {
    await expect(service.stack.invoke('Authorize', sample('authorizer'))).rejects.toThrow('Unauthorized');
  });

  it('of tokens needs the key that it names', async () => {
    expect(await service.stack.invoke('Tokens', sample('tokens'))).toMatchObject({ statusCode: 500 });
  });
});
