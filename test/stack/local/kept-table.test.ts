import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, it } from 'vitest';
import { LocalClock } from '../../../infra/local/lambda/clock.ts';
import { StreamPoller } from '../../../infra/local/lambda/stream-poller.ts';
import { createTables, dynamoDbClient } from '../../../infra/local/services/dynamodb.ts';
import { Signal } from '../../../infra/local/services/signal.ts';
import type { Template } from '../../../infra/local/template.ts';
import { BY_PROJECT } from '../../../lib/deployment.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { TABLE } from '../../support/dynamodb-table.ts';
import { eventually } from '../../support/service.ts';

const endpoint = databaseEndpoint();
const client = dynamoDbClient(endpoint);
afterAll(() => client.destroy());

/** A template with one table of this name and an index. */
function templateOf(name: string, IndexName = BY_PROJECT): Template {
  const GlobalSecondaryIndexes = TABLE.GlobalSecondaryIndexes.map((index, i) =>
    i === 0 ? { ...index, IndexName } : index,
  );
  const properties = {
    ...TABLE,
    GlobalSecondaryIndexes,
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
  };
  return { ref: () => name, ofType: () => [{ id: name, properties }] } as unknown as Template;
}

describe('an existing table', () => {
  it('is reused with its stream', async () => {
    const template = templateOf(`kept-${randomUUID()}`);
    expect(await createTables(template, endpoint)).toEqual(await createTables(template, endpoint));
  });

  it('is not reused with different indexes', async () => {
    const name = `kept-${randomUUID()}`;
    await createTables(templateOf(name), endpoint);
    await expect(createTables(templateOf(name, 'other'), endpoint)).rejects.toThrow('differ from the template');
  });
});

describe('a stream', () => {
  it('is read from the stored position', async () => {
    const [{ name, streamArn } = { name: '', streamArn: '' }] = await createTables(
      templateOf(`kept-${randomUUID()}`),
      endpoint,
    );
    const positions = new Map<string, string>();
    const readOne = async (key: string) => {
      await client.send(new PutItemCommand({ TableName: name, Item: { pk: { S: key }, sk: { S: 'ITEM' } } }));
      const consumed: (string | undefined)[] = [];
      const poller = new StreamPoller({
        endpoint,
        arn: streamArn,
        writes: new Signal(),
        clock: new LocalClock(),
        positions,
        consumer: 'fn',
        windowMs: 0,
        batchSize: 100,
        async consume(records) {
          consumed.push(...records.map(({ dynamodb }) => dynamodb?.Keys?.pk?.S));
        },
      });
      const before = [...positions.values()].join();
      await poller.start();
      await eventually(() => [...positions.values()].join() !== before);
      poller.stop();
      return consumed;
    };
    expect(await readOne('first')).toEqual(['first']);
    expect(await readOne('second')).toEqual(['second']);
  });
});
