import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { BY_PROJECT, BY_STATUS, BY_TYPE } from '../../lib/deployment.ts';

const keys = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' as const },
  { AttributeName: sort, KeyType: 'RANGE' as const },
];

/** The table of the template (infra/data.ts) without a name. */
export const TABLE = {
  AttributeDefinitions: ['pk', 'sk', 'keysOf', 'byStatus', 'byType'].map((AttributeName) => ({
    AttributeName,
    AttributeType: 'S' as const,
  })),
  KeySchema: keys('pk', 'sk'),
  GlobalSecondaryIndexes: [
    { IndexName: BY_PROJECT, KeySchema: keys('keysOf', 'pk'), Projection: { ProjectionType: 'ALL' } },
    {
      IndexName: BY_STATUS,
      KeySchema: keys('byStatus', 'sk'),
      Projection: {
        ProjectionType: 'INCLUDE',
        NonKeyAttributes: ['eventType', 'test', 'nextAttemptAt', 'endedAt'],
      },
    },
    {
      IndexName: BY_TYPE,
      KeySchema: keys('byType', 'sk'),
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['followers', 'documentKey'] },
    },
  ],
  BillingMode: 'PAY_PER_REQUEST',
} satisfies Omit<CreateTableCommandInput, 'TableName'>;
