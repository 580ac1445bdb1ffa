import type { Backend } from '../lib/aws/backend.ts';
import { emailSender } from '../lib/aws/email.ts';
import { queue } from '../lib/aws/queue.ts';
import type { Runtime } from '../lib/aws/runtime.ts';
import type { BatchDeps } from '../lib/deliveries/batch.ts';
import type { CountDeps } from '../lib/deliveries/count-consumers.ts';
import { disabling } from '../lib/deliveries/disabling-store.ts';
import type { FanOutDeps } from '../lib/deliveries/fan-out.ts';
import { deliveryHandlers } from '../lib/deliveries/handlers.ts';
import type { Lane } from '../lib/deliveries/lanes.ts';
import { deliveryLog } from '../lib/deliveries/log-store.ts';
import { type DeliveryMessage, groupOf } from '../lib/deliveries/messages.ts';
import { outages } from '../lib/deliveries/outage-store.ts';
import { retryBy } from '../lib/deliveries/queue-retry.ts';
import type { DeliveryQueue } from '../lib/deliveries/queue-store.ts';
import { rateLimits } from '../lib/deliveries/rate-limit-store.ts';
import { recoverPage } from '../lib/deliveries/recovery.ts';
import { statsHandlers } from '../lib/deliveries/stats-handlers.ts';
import { stats } from '../lib/deliveries/stats-store.ts';
import { deliveries } from '../lib/deliveries/store.ts';
import { webhookEmails } from '../lib/deliveries/webhook-emails.ts';
import { connectionHandlers } from '../lib/documents/connection-handlers.ts';
import { connections } from '../lib/documents/connection-store.ts';
import { documentHandlers } from '../lib/documents/handlers.ts';
import type { ConnectionsDeps } from '../lib/documents/lost-connections.ts';
import { documents } from '../lib/documents/store.ts';
import { syncHandlers } from '../lib/documents/sync-handlers.ts';
import { eventStore } from '../lib/events/store.ts';
import { authorizer } from '../lib/http/authorizer.ts';
import { cursorsOf } from '../lib/http/cursor-store.ts';
import type { Handlers } from '../lib/http/serve.ts';
import { credentials } from '../lib/keys/credential-store.ts';
import { keyHandlers } from '../lib/keys/handlers.ts';
import { apiKeys } from '../lib/keys/store.ts';
import { tokenHandlers } from '../lib/keys/token-handlers.ts';
import { auditHandlers } from '../lib/projects/audit-handlers.ts';
import { auditLog } from '../lib/projects/audit-store.ts';
import type { EmailEventsDeps } from '../lib/projects/consumers.ts';
import { emailBudgets } from '../lib/projects/email-budget-store.ts';
import { type ProjectDeps, projectHandlers } from '../lib/projects/handlers.ts';
import { projectEmails, type SummaryMessage } from '../lib/projects/project-emails.ts';
import { shareKeyOf } from '../lib/projects/shares.ts';
import { projects } from '../lib/projects/store.ts';
import { stopEmails } from '../lib/projects/undeliverable.ts';
import type { Space } from '../lib/space.ts';
import { webhookHandlers } from '../lib/webhooks/handlers.ts';
import { allWebhooks, webhooks } from '../lib/webhooks/store.ts';

type Platform = Backend;
type WithEmail = Backend & ReturnType<typeof withEmail>;
type WithQueues = Backend & { queues: Record<Lane, DeliveryQueue> };
type WithChecks = Backend & Pick<ConnectionsDeps, 'scheduleCheck'>;
type DeliverPlatform = WithEmail &
  WithQueues &
  Pick<BatchDeps, 'post' | 'lane' | 'done'> & {
    dashboardUrl: string;
    /** Schedules a message to the quick queue. A repeated call with the same name has no effect. */
    schedule(name: string, message: { body: DeliveryMessage; group: string }, atMs: number): Promise<void>;
  };

/** Sends emails, and schedules their summaries. The previous release does not set the variable of that queue. */
export function withEmail(runtime: Runtime) {
  let summaryQueue: ReturnType<typeof queue> | undefined;
  return {
    sendEmail: emailSender(runtime),
    scheduleSummary(body: SummaryMessage, delaySeconds: number): Promise<void> {
      summaryQueue ??= queue(runtime, 'SUMMARIES_QUEUE_URL');
      return summaryQueue.send({ body, delaySeconds });
    },
  };
}

/** Schedules checks of connections. */
export function checks(runtime: Runtime): Pick<ConnectionsDeps, 'scheduleCheck'> {
  const { send } = queue(runtime, 'CHECKS_QUEUE_URL');
  return { scheduleCheck: (body, delaySeconds) => send({ body, delaySeconds }) };
}

/** The stores that several groups of operations use. */
const stores = ({ table, random }: Platform) => ({
  audit: auditLog(table),
  keys: apiKeys(table),
  projects: projects(table),
  events: eventStore(table),
  webhooks: webhooks(table),
  cursors: cursorsOf(table, random),
});

const emailsOf = (platform: WithEmail) =>
  projectEmails({ ...platform, budgets: emailBudgets(platform.table), projects: projects(platform.table) });

export const keyOperations = (platform: WithEmail) =>
  keyHandlers({ ...platform, ...stores(platform), emails: emailsOf(platform) });

export const tokenOperations = (platform: Platform) => tokenHandlers({ ...platform, ...stores(platform) });

export function projectOperations(platform: WithEmail & Pick<ProjectDeps, 'sourceAddresses'>): Handlers<'project'> {
  const deps = { ...platform, ...stores(platform) };
  const emails = { emails: emailsOf(platform), budgets: emailBudgets(platform.table) };
  return { ...projectHandlers({ ...deps, ...emails }), ...auditHandlers(deps) };
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
  const { warning: warningClaims, overload: overloadClaims, extendOutage, ...notes } = outages(table);
  const recovery = { ...deliveryLog(table), ...deliveries(table), extendOutage };
  const send = webhookEmails({ ...platform, projects: projects(table), emails: emailsOf(platform) });
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
    disabledEmail: { ...disabledClaims, send: send('disabled') },
    warningEmail: { ...warningClaims, send: send('failing') },
    overloadEmail: { ...overloadClaims, send: send('overloaded') },
    recoverPage: (message) => recoverPage(message, { ...recovery, clock, enqueue: queues.quick.sendAll }),
  };
}

export const emailEventsDeps = (platform: WithEmail): EmailEventsDeps => ({
  stop: (...report) =>
    stopEmails(...report, { ...platform, projects: projects(platform.table), emails: emailsOf(platform) }),
});

/** Sends the summary of the project in a message, if one is due. */
export const summaries = (platform: WithEmail & { dashboardUrl: string }) => (message: SummaryMessage) =>
  emailsOf(platform).summarize(message, platform.dashboardUrl);

export const countDeps = ({ table }: Platform): CountDeps => stats(table);
