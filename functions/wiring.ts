import { shareKeyOf } from '../lib/access/shares.ts';
import { stopEmails } from '../lib/access/undeliverable.ts';
import type { ApiFunction } from '../lib/api/operation.ts';
import type { CountDeps } from '../lib/aws/consumers/count.ts';
import type { EmailEventsDeps } from '../lib/aws/consumers/email-events.ts';
import { auditLog } from '../lib/aws/dynamodb/audit.ts';
import { connections } from '../lib/aws/dynamodb/connections.ts';
import { credentials } from '../lib/aws/dynamodb/credentials.ts';
import { cursors } from '../lib/aws/dynamodb/cursors.ts';
import { deliveries } from '../lib/aws/dynamodb/deliveries.ts';
import { deliveryLog } from '../lib/aws/dynamodb/delivery-log.ts';
import { disabling } from '../lib/aws/dynamodb/disabling.ts';
import { documents } from '../lib/aws/dynamodb/documents.ts';
import { events } from '../lib/aws/dynamodb/events.ts';
import { idempotencyRecords } from '../lib/aws/dynamodb/idempotency.ts';
import { apiKeys } from '../lib/aws/dynamodb/keys.ts';
import { outages } from '../lib/aws/dynamodb/outages.ts';
import { projects } from '../lib/aws/dynamodb/projects.ts';
import { rateLimits } from '../lib/aws/dynamodb/rate-limits.ts';
import { stats } from '../lib/aws/dynamodb/stats.ts';
import type { Table } from '../lib/aws/dynamodb/table.ts';
import { allWebhooks, webhooks } from '../lib/aws/dynamodb/webhooks.ts';
import type { BatchDeps } from '../lib/delivery/batch.ts';
import type { FanOutDeps } from '../lib/delivery/fan-out.ts';
import type { Lane } from '../lib/delivery/lanes.ts';
import { type DeliveryMessage, groupOf, type QueueMessage } from '../lib/delivery/messages.ts';
import { disabledNotification, type FailingWebhook, warningNotification } from '../lib/delivery/notification.ts';
import type { OutageEmail } from '../lib/delivery/outage.ts';
import { retryBy } from '../lib/delivery/queue-retry.ts';
import { recoverPage } from '../lib/delivery/redelivery.ts';
import type { ConnectionsDeps } from '../lib/documents/lost-connections.ts';
import type { Email } from '../lib/email.ts';
import { auditHandlers } from '../lib/handlers/audit.ts';
import { connectionHandlers } from '../lib/handlers/connections.ts';
import { deliveryHandlers } from '../lib/handlers/deliveries.ts';
import { documentHandlers } from '../lib/handlers/documents.ts';
import { eventHandlers } from '../lib/handlers/events.ts';
import { keyHandlers } from '../lib/handlers/keys.ts';
import { type ProjectDeps, projectHandlers } from '../lib/handlers/project.ts';
import { statsHandlers } from '../lib/handlers/stats.ts';
import { syncHandlers } from '../lib/handlers/sync.ts';
import { tokenHandlers } from '../lib/handlers/tokens.ts';
import { webhookHandlers } from '../lib/handlers/webhooks.ts';
import { authorizer } from '../lib/http/authorizer.ts';
import { type ApiHandler, type Handlers, type ServeDeps, serve } from '../lib/http/serve.ts';
import type { Random } from '../lib/ids.ts';
import type { Space } from '../lib/space.ts';

type Fields = Record<string, unknown>;

/** The dependencies of every function. Lambda functions pass AWS clients, and the simulation passes its own services. */
export interface Platform {
  table: Table;
  clock(): number;
  random: Random;
  log: { info(event: string, fields: Fields): void; warn(event: string, fields: Fields): void };
  reportFailure(event: string, fields: Fields, error: unknown): void;
}

export interface DeliveryQueue {
  send(message: QueueMessage, delaySeconds?: number): Promise<void>;
  sendAll(messages: readonly QueueMessage[], delaySeconds?: number): Promise<void>;
}
type WithEmail = Platform & { sendEmail(email: Email): Promise<void> };
type WithQueues = Platform & { queues: Record<Lane, DeliveryQueue> };
type WithChecks = Platform & Pick<ConnectionsDeps, 'scheduleCheck'>;
type DeliverPlatform = WithEmail &
  WithQueues &
  Pick<BatchDeps, 'post' | 'lane' | 'done'> & {
    dashboardUrl: string;
    /** Schedules a message to the quick queue. A repeated call with the same name has no effect. */
    schedule(name: string, message: { body: DeliveryMessage; group: string }, atMs: number): Promise<void>;
  };

/** The stores that several groups of operations use. */
const stores = ({ table, random }: Platform) => ({
  audit: auditLog(table),
  keys: apiKeys(table),
  projects: projects(table),
  events: events(table),
  webhooks: webhooks(table),
  cursors: cursors(table, random),
});

export const keyOperations = (platform: WithEmail) => keyHandlers({ ...platform, ...stores(platform) });

export const tokenOperations = (platform: Platform) => tokenHandlers({ ...platform, ...stores(platform) });

export const eventOperations = (platform: Platform) => eventHandlers({ ...platform, ...stores(platform) });

export function projectOperations(platform: WithEmail & Pick<ProjectDeps, 'sourceAddresses'>): Handlers<'project'> {
  const deps = { ...platform, ...stores(platform) };
  return { ...projectHandlers(deps), ...auditHandlers(deps) };
}

export function webhookOperations(platform: Platform & { queue: DeliveryQueue }): Handlers<'webhooks'> {
  const { table, queue } = platform;
  const deps = {
    ...platform,
    ...stores(platform),
    allWebhooks: (space: Space) => allWebhooks(table, space),
    deliveries: deliveryLog(table),
    stats: stats(table),
    enqueue: queue.sendAll,
  };
  return { ...webhookHandlers(deps), ...deliveryHandlers(deps), ...statsHandlers(deps) };
}

export const connectionDeps = (platform: WithChecks): ConnectionsDeps => ({
  ...platform,
  connections: connections(platform.table),
});

export function documentOperations(platform: WithChecks): Handlers<'documents'> {
  const deps = { ...platform, ...stores(platform), documents: documents(platform.table) };
  return { ...documentHandlers(deps), ...syncHandlers(deps), ...connectionHandlers(connectionDeps(platform)) };
}

/** Serves operations over HTTP, with idempotency keys. */
export const serveOperations = <Name extends ApiFunction>(
  platform: Platform,
  operations: Handlers<Name>,
  violations: ServeDeps<Name>['violations'] = {},
): ApiHandler =>
  serve<Name>(operations, { ...platform, idempotency: idempotencyRecords(platform.table, platform), violations });

export const authorization = (platform: Platform & { sharePrefix: string; requestsPerSecond: string | undefined }) =>
  authorizer({
    ...platform,
    keys: credentials(platform.table),
    shareKeyOf: (projectId) => shareKeyOf(platform.sharePrefix, projectId),
  });

export const fanOutDeps = ({ table, queues, clock }: WithQueues): FanOutDeps => ({
  webhooks: (space) => allWebhooks(table, space),
  enqueue: (lane, messages) => queues[lane].sendAll(messages),
  skip: (message, event) => deliveries(table).end(message, event, 'skipped', clock()),
  clock,
});

export function deliverDeps(platform: DeliverPlatform): BatchDeps {
  const { table, queues, lane, clock, log, schedule, post, done } = platform;
  const { email: disabledClaims, exhaust } = disabling(table);
  const { warning: warningClaims, extendOutage, ...notes } = outages(table);
  const recovery = { ...deliveryLog(table), webhook: webhooks(table).get, extendOutage };
  return {
    lane,
    clock,
    post,
    done,
    ...deliveries(table),
    ...rateLimits(table),
    ...notes,
    exhaust,
    warn: (event, fields) => log.warn(event, fields),
    defer: (message, slower) => queues[slower].send(message),
    delay: (message, seconds) => queues[lane].send(message, seconds),
    retry: retryBy({
      enqueue: (message, delaySeconds) => queues[lane].send(message, delaySeconds),
      schedule: (name, message, atMs) => schedule(name, { body: message, group: groupOf(message) }, atMs),
    }),
    disabledEmail: { ...disabledClaims, send: sendBy(platform, disabledNotification) },
    warningEmail: { ...warningClaims, send: sendBy(platform, warningNotification) },
    recoverPage: (message) => recoverPage(message, { ...recovery, clock, enqueue: queues.quick.sendAll }),
  };
}

function sendBy(
  { table, sendEmail, dashboardUrl }: DeliverPlatform,
  notification: (failing: FailingWebhook) => Email,
): OutageEmail['send'] {
  return async (failing) => {
    const project = await projects(table).get(failing.webhook.projectId);
    if (project) await sendEmail(notification({ ...failing, project, dashboardUrl }));
  };
}

export const emailEventsDeps = (platform: WithEmail): EmailEventsDeps => ({
  stop: (projectId, address, reason) =>
    stopEmails(projectId, address, reason, { ...platform, projects: projects(platform.table) }),
});

export const countDeps = ({ table }: Platform): CountDeps => stats(table);
