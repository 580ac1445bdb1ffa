import type { Backend } from '../aws/backend.ts';
import { variable } from '../aws/runtime.ts';
import { projectEmails } from '../emails/send.ts';
import { type Endpoints, endpoints } from './endpoint-store.ts';
import type { HttpPost } from './http-post.ts';
import { laneQueues, retries } from './lane-queues.ts';
import type { Lane } from './lanes.ts';
import { deliveryLog } from './log-store.ts';
import type { DeliveryMessage } from './messages.ts';
import { earlyTurn, type SlotRequest, type Turn } from './rate-limit.ts';
import { takeSlots } from './rate-limit-store.ts';
import { recoveries } from './recovery-store.ts';
import { deliveries } from './store.ts';

/** What the handling of a batch of messages needs. The messages of a batch share it. */
export type Batch = ReturnType<ReturnType<typeof batches>>;

/** Creates the batches of the lane of a function. `post` sends the requests of attempts. */
export function batches(backend: Backend, post: HttpPost) {
  const { table } = backend;
  const lane = variable(backend, 'LANE') as Lane;
  const send = laneQueues(backend);
  const lasting = {
    ...backend,
    lane,
    post,
    send,
    retry: retries(backend, lane, send),
    emails: projectEmails(backend),
    recoveries: recoveries(table),
  };
  return () => ({
    ...lasting,
    store: { ...deliveries(table), ...deliveryLog(table), ...notingOnce(endpoints(table)) },
    takeSlot: takingTogether(backend),
  });
}

/**
 * Takes a token of the webhook's rate limit for an attempt, or books a slot for it. Takes the slots of all messages of a webhook
 * together, so that a batch has one read and one write for each webhook.
 */
function takingTogether({ table, clock }: Backend) {
  const groups = new Map<string, { requests: SlotRequest[]; turns: Promise<Turn[]> }>();
  return async (
    { webhookId, slot, trigger }: DeliveryMessage,
    maxPerSecond: number,
    isTest: boolean,
  ): Promise<Turn> => {
    const request = { slot, isTest, isRecovery: trigger === 'recovery' };
    const early = earlyTurn(request, maxPerSecond, clock());
    if (early !== undefined) return early;
    const requests: SlotRequest[] = [];
    const take = () => {
      groups.delete(webhookId);
      return takeSlots(table, webhookId, maxPerSecond, requests, clock());
    };
    const group = groups.get(webhookId) ?? { requests, turns: Promise.resolve().then(take) };
    groups.set(webhookId, group);
    const index = group.requests.push(request) - 1;
    return (await group.turns)[index] ?? null;
  };
}

/**
 * Of several deliveries of a batch to one endpoint, the first one makes a note. If that fails, the next one does. Overdue attempts
 * to one endpoint occupy the same environment, so all of them stay or leave with the first.
 */
const notingOnce = (store: Endpoints): Endpoints => ({
  ...store,
  beginOutage: oncePerWebhook(store.beginOutage),
  endOutage: oncePerWebhook(store.endOutage),
  endOverload: oncePerWebhook(store.endOverload),
  suspect: oncePerWebhook(store.suspect),
});

function oncePerWebhook<Webhook extends { id: string }, Times extends number[], Result>(
  note: (webhook: Webhook, ...times: Times) => Promise<Result>,
): typeof note {
  const noted = new Map<string, Promise<Result>>();
  return (webhook, ...times) => {
    const { id } = webhook;
    const noting = noted.get(id) ?? note(webhook, ...times);
    noted.set(id, noting);
    noting.catch(() => noted.delete(id));
    return noting;
  };
}
