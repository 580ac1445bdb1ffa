import type { Publish } from '../../../infra/local/monitoring.ts';
import { READS } from '../../../infra/local/services/dynamodb-request.ts';
import type { ServiceCall } from '../../../infra/local/services/endpoints.ts';
import type { Services } from '../../../infra/local/services/services.ts';
import type { LocalSes } from '../../../infra/local/services/ses.ts';
import type { LocalQueue } from '../../../infra/local/services/sqs.ts';
import type { LocalCloudWatch } from './cloudwatch.ts';

/** Publishes the metrics of the services in the stack. AWS samples those of queues and emails every minute. */
export function watchServices(
  { queues, ses, endpoints }: Pick<Services, 'queues' | 'ses' | 'endpoints'>,
  { put, everyMinute }: Pick<LocalCloudWatch, 'put' | 'everyMinute'>,
): void {
  for (const queue of queues.values()) everyMinute(() => sampleQueue(queue, put));
  everyMinute(() => sampleReputation(ses, put));
  endpoints.throttled = (call) => call.service === 'dynamodb' && countThrottle(call, put);
}

function sampleQueue(queue: LocalQueue, publish: Publish): void {
  const metric = (name: string) => ({
    namespace: 'AWS/SQS',
    name,
    dimensions: { QueueName: queue.settings.name },
  });
  publish(metric('ApproximateNumberOfMessagesVisible'), queue.counts().visible);
  publish(metric('ApproximateAgeOfOldestMessage'), queue.ageSeconds());
}

/** Publishes the rates of the account, after it has sent the first email. */
function sampleReputation({ emails, returned }: LocalSes, publish: Publish): void {
  if (emails.length === 0) return;
  const metric = (name: string) => ({ namespace: 'AWS/SES', name: `Reputation.${name}`, dimensions: {} });
  publish(metric('BounceRate'), returned.bounces / emails.length);
  publish(metric('ComplaintRate'), returned.complaints / emails.length);
}

/** Counts a throttled DynamoDB call. A query of an index counts only for the index. */
function countThrottle({ action, input }: ServiceCall, publish: Publish): void {
  const TableName = tableOf(input);
  const { IndexName } = input as { IndexName?: string };
  publish(
    {
      namespace: 'AWS/DynamoDB',
      name: READS.has(action) ? 'ReadThrottleEvents' : 'WriteThrottleEvents',
      dimensions: { TableName, ...(IndexName !== undefined && { GlobalSecondaryIndexName: IndexName }) },
    },
    1,
  );
}

interface Input {
  TableName?: string;
  RequestItems?: Record<string, unknown>;
  TransactItems?: Record<string, { TableName: string }>[];
}

function tableOf(input: Input): string {
  const [inTransaction] = input.TransactItems?.flatMap((item) => Object.values(item)) ?? [];
  return input.TableName ?? inTransaction?.TableName ?? Object.keys(input.RequestItems ?? {})[0] ?? '';
}
