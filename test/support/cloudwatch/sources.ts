import type { Publish } from '../../../infra/local/monitoring.ts';
import { type EmailEventType, simulatedEvent } from '../../../infra/local/services/email-events.ts';
import type { Services } from '../../../infra/local/services/services.ts';
import type { LocalSes } from '../../../infra/local/services/ses.ts';
import type { LocalQueue } from '../../../infra/local/services/sqs.ts';
import type { LocalCloudWatch } from './cloudwatch.ts';

/** Publishes the metrics of the services in the stack. AWS samples those of queues and emails every minute. */
export function watchServices(
  { queues, ses }: Pick<Services, 'queues' | 'ses'>,
  { put, everyMinute }: Pick<LocalCloudWatch, 'put' | 'everyMinute'>,
): void {
  for (const queue of queues.values()) everyMinute(() => sampleQueue(queue, put));
  everyMinute(() => sampleReputation(ses, put));
}

function sampleQueue(queue: LocalQueue, publish: Publish): void {
  const metric = (name: string) => ({
    namespace: 'AWS/SQS',
    name,
    dimensions: { QueueName: queue.settings.name },
  });
  publish(metric('ApproximateNumberOfMessagesVisible'), queue.counts().visible);
  publish(metric('ApproximateAgeOfOldestMessage'), ageSeconds(queue));
}

/** The age of the oldest message, including delayed messages. 0 if the queue is empty. */
function ageSeconds({ settings: { name, now, kept } }: LocalQueue): number {
  const sent = [...kept.values()].filter(({ queue }) => queue === name).map(({ sentAt }) => sentAt);
  return sent.length === 0 ? 0 : (now() - Math.min(...sent)) / 1000;
}

/** Publishes the rates of the account, after it has sent the first email. */
function sampleReputation({ emails }: LocalSes, publish: Publish): void {
  if (emails.length === 0) return;
  const rateOf = (type: EmailEventType) =>
    emails.filter(({ to }) => simulatedEvent(to) === type).length / emails.length;
  const metric = (name: string) => ({ namespace: 'AWS/SES', name: `Reputation.${name}`, dimensions: {} });
  publish(metric('BounceRate'), rateOf('Bounce'));
  publish(metric('ComplaintRate'), rateOf('Complaint'));
}
