import { NotYetError, UnavailableError } from '../errors.ts';
import { type DeliverDeps, type DeliverResult, type DeliveryContext, deliver } from './deliver.ts';
import { attemptName, type DeliveryMessage, type QueueMessage, type RecoverMessage } from './messages.ts';
import { earlyTurn, type SlotRequest, type Turn } from './rate-limit.ts';

export interface BatchDeps extends Omit<DeliverDeps, 'takeSlot'> {
  /** The turn of each request under the webhook's rate limit. */
  takeSlots(
    message: DeliveryMessage,
    maxPerSecond: number,
    requests: readonly SlotRequest[],
    nowMs: number,
  ): Promise<Turn[]>;
  /** Reads the data that the messages refer to, in their order. An error belongs only to its message. */
  loadContexts(messages: readonly DeliveryMessage[]): Promise<(DeliveryContext | UnavailableError)[]>;
  recoverPage(message: RecoverMessage): Promise<void>;
  /** Called once for every processed delivery. */
  done(message: DeliveryMessage, result: DeliverResult): void;
}

/**
 * Handles the messages of a batch separately. A message whose handling throws must be received again. One read loads the data of
 * all messages, and if it fails, all of them must be received again. Copies of a message count as one delivery.
 */
export function deliverBatch(messages: readonly (QueueMessage | null)[], deps: BatchDeps) {
  const loading = load();
  loading.catch(() => {}); // every message awaits it
  const runs = new Map<string, Promise<DeliverResult>>();
  const own: DeliverDeps = {
    ...deps,
    beginOutage: oncePerWebhook(deps.beginOutage),
    endOutage: oncePerWebhook(deps.endOutage),
    endOverload: oncePerWebhook(deps.endOverload),
    takeSlot: takingTogether(deps),
    suspect: onceSuspected(deps.suspect),
  };

  return async function handle(message: QueueMessage | null): Promise<void> {
    if (!message) throw new Error('The message has an unknown format');
    if ('recover' in message) return deps.recoverPage(message);
    const context = (await loading).get(message);
    if (!context) throw new Error('The data of the message were not read');
    if (context instanceof UnavailableError) throw context;
    const name = attemptName(message);
    const copy = runs.get(name);
    const run = copy ?? deliver(message, context, own);
    runs.set(name, run);
    const result = await run;
    if (!copy) deps.done(message, result);
    if (result.task === 'wait') throw new NotYetError('Another run is processing the message');
  };

  async function load(): Promise<Map<QueueMessage, DeliveryContext | UnavailableError>> {
    const due = messages.filter((message): message is DeliveryMessage => message !== null && !('recover' in message));
    const contexts = await deps.loadContexts(due);
    return new Map(due.map((message, i) => [message, contexts[i] as (typeof contexts)[number]]));
  }
}

/** Overdue attempts to one endpoint in a batch occupy the same environment, so all of them stay or leave with the first. */
function onceSuspected(suspect: BatchDeps['suspect']): BatchDeps['suspect'] {
  const suspected = new Map<string, Promise<boolean>>();
  return (message, slowUntil, nowMs) => {
    const { webhookId } = message;
    const known = suspected.get(webhookId) ?? suspect(message, slowUntil, nowMs);
    suspected.set(webhookId, known);
    return known;
  };
}

/** Takes the slots of all messages of a webhook together, so that a batch has one read and one write for each webhook. */
function takingTogether({ takeSlots, clock }: BatchDeps): DeliverDeps['takeSlot'] {
  const groups = new Map<string, { requests: SlotRequest[]; turns: Promise<Turn[]> }>();
  return async (message, maxPerSecond, isTest) => {
    const { webhookId, slot } = message;
    const request = { slot, isTest, isRecovery: message.trigger === 'recovery' };
    const early = earlyTurn(request, maxPerSecond, clock());
    if (early !== undefined) return early;
    const requests: SlotRequest[] = [];
    const take = () => {
      groups.delete(webhookId);
      return takeSlots(message, maxPerSecond, requests, clock());
    };
    const group = groups.get(webhookId) ?? { requests, turns: Promise.resolve().then(take) };
    groups.set(webhookId, group);
    const index = group.requests.push(request) - 1;
    return (await group.turns)[index] ?? null;
  };
}

/** Of several deliveries to one endpoint, the first one makes the note. If that fails, the next one does. */
function oncePerWebhook(note: BatchDeps['beginOutage']): BatchDeps['beginOutage'] {
  const noted = new Map<string, Promise<void>>();
  return (message, atMs) => {
    const { webhookId } = message;
    const noting = noted.get(webhookId) ?? note(message, atMs);
    noted.set(webhookId, noting);
    noting.catch(() => noted.delete(webhookId));
    return noting;
  };
}
