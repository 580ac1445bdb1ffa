import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { withLayoutCheck } from '../../../lib/aws/layout.ts';
import { LAYOUT_KEY } from '../../../lib/deployment.ts';

const TableName = 'table';
const read = new GetCommand({ TableName, Key: { pk: 'a', sk: 'b' } });
const write = new PutCommand({ TableName, Item: { pk: 'a', sk: 'b' } });

/** A client whose first commands fail, and the commands that it received: `check`, `read` or `write`. */
function createClient(failures = 0) {
  const received: string[] = [];
  const send = async (command: GetCommand | PutCommand) => {
    const isCheck = 'Key' in command.input && command.input.Key?.pk === LAYOUT_KEY.pk;
    received.push(isCheck ? 'check' : command === read ? 'read' : 'write');
    if (received.length <= failures) throw new Error('timeout');
    return {};
  };
  return { client: withLayoutCheck({ send } as Parameters<typeof withLayoutCheck>[0], TableName), received };
}

describe('the check of the layout', () => {
  it('runs once per client, in parallel with the first read', async () => {
    const { client, received } = createClient();
    const first = client.send(read);
    expect(received).toEqual(['read', 'check']);
    await first;
    await client.send(read);
    await client.send(write);
    expect(received).toEqual(['read', 'check', 'read', 'write']);
  });

  it('runs before the first write', async () => {
    const { client, received } = createClient();
    await client.send(write);
    expect(received).toEqual(['check', 'write']);
  });

  it('runs again after a failure, and blocks writes until it succeeds', async () => {
    const { client, received } = createClient(1);
    await expect(client.send(write)).rejects.toThrow('timeout');
    await client.send(write);
    expect(received).toEqual(['check', 'check', 'write']);
  });
});
