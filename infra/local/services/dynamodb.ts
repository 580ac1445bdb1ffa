import { ACCOUNT, REGION } from '../template.ts';
import { databaseRequests } from './database-requests.ts';
import { dynamoDbActions, READS } from './dynamodb-request.ts';
import type { Service } from './endpoints.ts';
import type { LocalIam } from './iam.ts';
import type { Signal } from './signal.ts';

export interface DynamoDbProxyOptions {
  /** The endpoint of the database. */
  endpoint: string;
  iam: LocalIam;
  writes: Signal;
}

/** Forwards requests of functions to the database, and signals `writes` after each possible write. */
export function dynamoDbProxy({ endpoint, iam, writes }: DynamoDbProxyOptions): Service {
  const { send } = databaseRequests(endpoint);
  const tableArn = (name: string) => `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;
  return ({ action, input, headers, body, principal }) => {
    for (const permission of dynamoDbActions(action, input, tableArn)) {
      const context = {
        'dynamodb:LeadingKeys': permission.leadingKeys,
        'dynamodb:Attributes': permission.attributes ?? [],
        ...(permission.select && { 'dynamodb:Select': permission.select }),
      };
      iam.require(principal, permission.action, permission.resource, context);
    }
    const response = send(headers, body);
    return READS.has(action) ? response : response.finally(() => writes.give());
  };
}
