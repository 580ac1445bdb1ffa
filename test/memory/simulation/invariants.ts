import type { Item } from '../../../infra/local/memory/paths.ts';
import type { AuditRecord } from '../../../lib/audit/audit.ts';
import type { Attempt } from '../../../lib/deliveries/attempt.ts';
import { isSuccess } from '../../../lib/deliveries/attempt.ts';
import { SUSPECT_FOR_MS } from '../../../lib/deliveries/lanes.ts';
import { toDelivery } from '../../../lib/deliveries/log-store.ts';
import { isDelivery, type QueueMessage, type RecoverMessage } from '../../../lib/deliveries/messages.ts';
import { type DeliveryRecord, runKey } from '../../../lib/deliveries/record.ts';
import type { RecoveryRecord } from '../../../lib/deliveries/recovery-record.ts';
import { isUnderWay } from '../../../lib/deliveries/retry-schedule.ts';
import type { ConnectionRecord } from '../../../lib/documents/connections.ts';
import type { StoredEvent } from '../../../lib/events/event.ts';
import { keysOfEntry, toStoredEvent } from '../../../lib/events/store.ts';
import { isLasting, type KeyRecord } from '../../../lib/keys/key.ts';
import type { ProjectRecord } from '../../../lib/projects/project.ts';
import { serviceSignature, standardSignature } from '../../../lib/webhooks/signing.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { isInProgress } from './client.ts';
import { onConverged, onCycles, onDocuments } from './document-invariants.ts';
import type { Received } from './endpoints.ts';
import type { EngineConnection } from './engines.ts';
import { isDocument, type Model } from './model.ts';
import type { Invariant } from './planted-bugs.ts';
import type { Replica } from './replica.ts';
import type { Request, Response } from './requests.ts';
import type { SimulatedService } from './service.ts';
import { must, Violation } from './violation.ts';
import { type Process, SKEW_MS, type World } from './world.ts';

/** The promised schedule. It does not come from the code, because a bug there would change it. */
const RETRY_DELAYS_SECONDS = [60, 300, 1800, 7200, 43_200];
const MAX_ATTEMPTS = 6;
/** The statuses of a response that tell a client that its request changed nothing. */
const WITHOUT_EFFECT: readonly number[] = [404, 409, 412, 429];
/** The longest time from an event to its first attempt. A message that failed is received again after three minutes. */
const FIRST_ATTEMPT_MS = 60_000;

interface Version<Value> {
  step: number;
  /** By the clock of the function that wrote it. */
  at: number;
  value: Value | undefined;
}

/** Every state that an item ever had. */
class History<Value> {
  private readonly versions = new Map<string, Version<Value>[]>();

  add(id: string, version: Version<Value>): void {
    const versions = this.versions.get(id);
    if (versions) versions.push(version);
    else this.versions.set(id, [version]);
  }

  all(id: string): readonly Version<Value>[] {
    return this.versions.get(id) ?? [];
  }

  ids(): IterableIterator<string> {
    return this.versions.keys();
  }

  /** Returns the states that a reader could see between two steps, including the state at the first step. */
  between(id: string, first: number, last: number): (Value | undefined)[] {
    const versions = this.all(id);
    const before = versions.filter(({ step }) => step < first).at(-1);
    return [before?.value, ...versions.filter(({ step }) => step >= first && step <= last).map(({ value }) => value)];
  }
}

/** The responses that clients received, and their actions. */
export interface Promised {
  /** The ids of events that were accepted (202). */
  accepted: Set<string>;
  /** Markers of resources that were created under an idempotency key. At most one resource of each must exist. */
  atMostOnce: Set<string>;
  /** Those that were acknowledged. Exactly one resource of each must exist. */
  once: Set<string>;
  /** The tables in which sync cycles were last completed, by the names of the cycles. */
  cycles: Map<string, number | undefined>;
  /** The connections that clients asked to close, with the times. */
  goodbyes: [connectionId: string, asked: number][];
  /** The connections of engines. */
  engineConnections: Map<string, EngineConnection>;
  /** Deliveries as they were before a recovery of them was accepted. */
  recovered: { delivery: DeliveryRecord; step: number }[];
  /** The requests that stopped a recovery, and the step of their response. */
  stops: { webhookId: string | undefined; until: number }[];
  /** The violations that clients observed. */
  broken: [invariant: Invariant, detail: string][];
}

/** Whether a webhook takes an event. All document keys and patterns of the simulation have one segment. */
function takes({ id, events, documents = [] }: WebhookRecord, event: StoredEvent): boolean {
  if (event.webhookId !== undefined) return event.webhookId === id;
  const key = JSON.parse(event.body).data.document_key;
  const isMatch = documents.length === 0 || (key !== undefined && (documents.includes('*') || documents.includes(key)));
  return isMatch && events.includes(event.type);
}

/** Watches a service, and throws when a promise is broken. */
export class Invariants {
  private readonly webhooks = new History<WebhookRecord>();
  private readonly deliveries = new History<DeliveryRecord>();
  private readonly connections = new History<ConnectionRecord>();
  private readonly recoveries = new History<RecoveryRecord>();
  private readonly projects = new History<ProjectRecord>();
  /** How many messages of each recovery were queued and received. */
  private readonly messages = new Map<string, { queued: number; received: number }>();
  /** The step at which each event was stored. */
  private readonly eventSteps = new Map<string, number>();
  private readonly byUrl = new Map<string, string>();
  private readonly signatures = new Map<string, string>();
  /** When an overdue attempt to each webhook last stayed in the quick lane. */
  private readonly stays = new Map<string, number>();
  private readonly tokens = new Map<string, { at: number; limit: number }[]>();
  private readonly service: SimulatedService;
  private readonly world: World;
  private readonly model: Model;
  private usedMs = 0;
  private disablings = 0;
  /** Disabled webhooks that were enabled or deleted before the email. */
  private undone = 0;
  violation: Violation | undefined;

  constructor(service: SimulatedService, world: World, model: Model) {
    this.service = service;
    this.world = world;
    this.model = model;
    service.onChange = (before, after, table) => this.guard(() => this.onChange(before, after, table));
    service.onRestore = (items) => model.restore(items);
    service.onPost = (post) => this.guard(() => this.onPost(post));
    service.onReceive = (message) => this.onReceive(message);
    service.onSend = (message, process) => this.guard(() => this.onSend(message, process));
    service.onResponse = (request, response, runs) => this.guard(() => onResponse(request, response, runs));
    service.onStay = (id) => this.guard(() => this.onStay(id));
    service.onLongAttempt = (url) =>
      this.guard(() => must(false, 'No attempt lasts longer than a second in the quick lane', url));
  }

  private guard(look: () => void): void {
    try {
      look();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.violation ??= error;
    }
  }

  private onChange(before: Item | undefined, after: Item | undefined, table: number): void {
    const pk = String((after ?? before)?.pk);
    const version = { step: this.world.steps, at: this.service.writerClock };
    if (pk.startsWith('HOOKS#')) {
      const [old, value] = [before, after] as unknown as (WebhookRecord | undefined)[];
      const id = String((value ?? old)?.id);
      this.webhooks.add(id, { ...version, value });
      if (value) this.byUrl.set(value.url, id);
      this.onWebhook(old, value);
    } else if (pk.startsWith('HOOK#')) {
      if (!after) return;
      const [old, value] = [before && toDelivery(before), toDelivery(after)];
      this.deliveries.add(idOf(value.webhookId, value.eventId), { ...version, value });
      onDelivery(old, value);
    } else if (pk.startsWith('EVENT#')) {
      this.eventSteps.set(String(after?.sk), version.step);
    } else if (pk.startsWith('CONNECTION#')) {
      const value = after as ConnectionRecord | undefined;
      if (value) this.connections.add(`${value.id} ${value.connectedAt}`, { ...version, value });
    } else if (isDocument(pk)) {
      if (after) this.model.store(after, table, table === this.service.tables.current.number);
    } else if (pk.startsWith('RECOVERY#')) {
      this.recoveries.add(pk, { ...version, value: after as RecoveryRecord | undefined });
    } else if (pk.startsWith('PROJECT#')) {
      this.projects.add(pk, { ...version, value: after as ProjectRecord | undefined });
      this.onBudget(before, after);
    } else if (pk.startsWith('KEY#')) onKey(before as never, after as never);
  }

  /** The state of the budget advances from the present at the earliest. Only a lost response counts deliveries twice. */
  private onBudget(before: Item | undefined, after: Item | undefined): void {
    const from = Math.max(Number(before?.deliveriesUsedUntil ?? 0), this.service.writerClock);
    this.usedMs += Math.max(0, Number(after?.deliveriesUsedUntil ?? 0) - from);
    const { budgetMs } = this.service;
    const isCorrect = this.usedMs <= budgetMs || this.world.faults > 0;
    must(isCorrect, 'Only deliveries use the budget of a project', `${this.usedMs} of ${budgetMs} ms`);
  }

  private onWebhook(before: WebhookRecord | undefined, after: WebhookRecord | undefined): void {
    const isPending = before?.disabledBy !== undefined && before.emailedAt === undefined;
    if (isPending && after?.disabledBy !== before.disabledBy) {
      must(after === undefined || after.status === 'enabled', 'A webhook is disabled once', `${before.id} again`);
      this.undone++;
    }
    if (!after?.disabledBy || before?.disabledBy === after.disabledBy) return;
    this.disablings++;
    must(before?.status === 'enabled', 'A webhook is disabled once', `${after.id} was ${before?.status}`);
    const [eventId = ''] = after.disabledBy.split('#');
    const delivery = this.service.delivery(after.id, eventId);
    const isExhausted =
      delivery?.status === 'failed' && delivery.attempt === MAX_ATTEMPTS && runKey(delivery) === after.disabledBy;
    must(isExhausted, 'Only the sixth failure disables a webhook', `${after.id} by ${after.disabledBy}`);
  }

  private messagesOf({ recover: { recoveryId } }: RecoverMessage) {
    const counts = this.messages.get(recoveryId) ?? { queued: 0, received: 0 };
    this.messages.set(recoveryId, counts);
    return counts;
  }

  private onReceive(message: QueueMessage): void {
    if ('recover' in message) this.messagesOf(message).received++;
  }

  /** Only pages of the current recovery send deliveries. */
  private onSend(message: QueueMessage, { records, readAt }: Process): void {
    const { now, steps } = this.world;
    if ('recover' in message) {
      this.messagesOf(message).queued++;
      return;
    }
    if (!isDelivery(message)) return; // a part of an event
    const { webhookId, eventId, projectId, recovery: recoveryId } = message;
    if (message.trigger !== 'recovery' || message.attempt > 1) return;
    const received = records.map((record) => JSON.parse((record as { body: string }).body) as QueueMessage);
    if (received.some((each) => isDelivery(each) && each.eventId === eventId)) return; // it is passed on
    const seen = {
      webhooks: this.webhooks.between(webhookId, readAt, steps),
      recoveries: this.recoveries.between(`RECOVERY#${webhookId}`, readAt, steps),
      projects: this.projects.between(`PROJECT#${projectId}`, readAt, steps),
    };
    const isCurrent =
      seen.webhooks.some((webhook) => webhook?.recoveryId === recoveryId) &&
      seen.recoveries.some((recovery) => recovery?.id === recoveryId && recovery?.endedAt === undefined) &&
      seen.projects.some((project) => project?.suspendedAt === undefined);
    must(isCurrent, 'Only the current recovery of a webhook sends deliveries', `${recoveryId} at ${now}`);
  }

  private onPost(post: Received): void {
    const id = this.byUrl.get(post.url) ?? '';
    const name = `${post.eventId} to ${id}, attempt ${post.attempt} of run ${post.run}`;
    const seen = this.webhooks.between(id, post.readAt, post.step).filter((webhook) => webhook !== undefined);
    must(seen.length > 0, 'A deleted webhook receives nothing', name);
    const isTest = post.headers['X-Service-Test'] === 'true';
    must(isTest || seen.some(({ status }) => status === 'enabled'), 'A disabled webhook receives nothing', name);

    const deliveries = this.deliveries.between(idOf(id, post.eventId), post.readAt, post.step);
    const isDue = deliveries.some((delivery) => !delivery || isBefore(post, delivery));
    must(isDue, 'No attempt is repeated after it was recorded', name);

    const isCurrent = seen.some(({ secret }) => this.signatureOf(secret, post) === post.headers['X-Service-Signature']);
    must(isCurrent, 'A delivery is signed with the secret of its webhook', name);
    const secrets = seen.flatMap(({ previousSecrets = [] }) => previousSecrets);
    const ended = secrets.filter(({ until }) => until + SKEW_MS < post.at);
    const timestamp = Number(post.headers['webhook-timestamp']);
    const isStale = ended.some(({ secret }) =>
      post.headers['webhook-signature']?.includes(standardSignature(secret, post.eventId, timestamp, post.body)),
    );
    must(!isStale, 'No expired secret signs', name);

    this.onFirst(id, post, name);
    const limits = seen.map(({ maxPerSecond = Number.POSITIVE_INFINITY }) => maxPerSecond);
    if (Math.max(...limits) < Number.POSITIVE_INFINITY) this.onLimited(id, Math.max(...limits), post, name);
  }

  /** An earlier attempt leaves the lane within the time that two clocks need for the same decision. */
  private onStay(id: string): void {
    const last = this.stays.get(id);
    this.stays.set(id, this.world.now);
    const isAlone = last === undefined || this.world.now >= last + SUSPECT_FOR_MS - SKEW_MS;
    must(isAlone, 'One overdue attempt to an endpoint stays in the quick lane', id);
  }

  /** The first attempt of an event follows within a minute, unless something other than a throttled partition delays it. */
  private onFirst(id: string, post: Received, name: string): void {
    const { hotPartition, setAside, lateMessages } = this.service;
    const isDelayed = this.world.faults > hotPartition.count || lateMessages > 0 || setAside.has(post.eventId);
    if (post.attempt !== 1 || post.run !== 0 || isDelayed || hotPartition.isOf(id)) return;
    if (this.webhooks.all(id).some(({ value }) => value?.maxPerSecond != null)) return;
    const lateMs = post.at - Date.parse(JSON.parse(post.body).timestamp);
    must(lateMs < FIRST_ATTEMPT_MS, 'A throttled partition delays only its own webhook', `${name}, after ${lateMs} ms`);
  }

  /** Attempts are counted by the time for which they took their tokens. The clocks of processes differ, and calls can be late. */
  private onLimited(id: string, limit: number, { tokensAt }: Received, name: string): void {
    const at = tokensAt.get(id);
    must(at !== undefined, 'An attempt to a webhook with a rate limit has a token', name);
    const tokens = [...(this.tokens.get(id) ?? []), { at, limit }];
    this.tokens.set(id, tokens);
    for (const { at: start } of tokens) {
      const taken = tokens.filter(({ at }) => at >= start && at < start + 1000);
      const highest = Math.max(...taken.map(({ limit }) => limit));
      must(taken.length <= 2 * highest, 'No second has more than twice the limit of a webhook', name);
    }
  }

  private signatureOf(secret: string, { eventId, body }: Received): string {
    const id = `${secret} ${eventId}`; // the body of an event never changes
    const signature = this.signatures.get(id) ?? serviceSignature(secret, body);
    this.signatures.set(id, signature);
    return signature;
  }

  /** Checks the invariants after all work has ended. */
  atRest(promised: Promised): void {
    this.guard(() => {
      onBroken(promised, this.model);
      must(this.service.isIdle, 'All work ends', 'some work is still pending');
      const { deadLetters } = this.service;
      must(deadLetters === 0, 'Nothing becomes a dead letter', `${deadLetters} messages`);
      for (const id of this.service.setAside)
        must(this.service.isRefusable(id), 'Only an event that always fails is set aside', id);
      const items = [...this.service.db.items()];
      const events = items.filter(({ pk }) => String(pk).startsWith('EVENT#')).map(toStoredEvent);
      for (const id of promised.accepted)
        must(
          events.some((event) => event.id === id),
          'An accepted event is stored',
          id,
        );
      onLists(items);
      const webhooks = items.filter(({ pk }) => String(pk).startsWith('HOOKS#')) as unknown as WebhookRecord[];
      for (const webhook of webhooks) for (const event of events) this.onRest(webhook, event);
      this.onCounts(items, events, webhooks, promised);
      this.onExhausted();
      onStats(
        items,
        [...this.deliveries.ids()].map((id) => this.deliveries.all(id).map(({ value }) => value)),
      );
      onBacklog(
        items,
        [...this.deliveries.ids()].map((id) => this.deliveries.all(id).at(-1)?.value),
      );
      this.onEmails();
      this.onOutages(webhooks);
      this.onOverloads();
      this.onRecovered(webhooks, promised);
      this.onRecoveryCounts(items);
      this.onPages();
      onDocuments(items, events, this.model, this.service.tables.current.number);
      onCycles(events, promised, this.service.tables.current.number);
      this.onConnections(items, events, promised);
      onEngines(items, events, promised);
      const keys = items.filter(({ pk }) => String(pk).startsWith('KEY#')) as unknown as KeyRecord[];
      const isSafe = keys.some((key) => key.type === 'admin' && isLasting(key, this.world.now));
      must(isSafe, 'A project always has an admin key', 'none is left');
      onAudit(items, keys);
    });
  }

  private onRest(webhook: WebhookRecord, event: StoredEvent): void {
    const name = `${event.id} to ${webhook.id}`;
    const isFor = takes(webhook, event);
    const [created = { step: 0, at: 0 }] = this.webhooks.all(webhook.id);
    const wasThere = created.step < (this.eventSteps.get(event.id) ?? 0);
    // Only clocks excuse a missed event: it came before the webhook by the clock of the function that created the webhook. Replication
    // excuses none, because the fan-out reads webhooks consistently.
    const isLater = created.at <= event.at;
    must(isFor || !this.service.delivery(webhook.id, event.id), 'A webhook records only events that it takes', name);
    if (!isFor || !wasThere || !isLater) return;
    const delivery = this.service.delivery(webhook.id, event.id);
    must(delivery !== undefined, 'Every event has a delivery to every webhook', name);
    must(!isUnderWay(delivery.status), 'Every pending attempt is made', name);
    must(!delivery.retryPending, 'No retry is pending at the end', name);
    const last = delivery.attempts.at(-1);
    if (delivery.status === 'succeeded')
      must(last !== undefined && isSuccess(last), 'A successful delivery had a 2xx', name);
    if (delivery.status === 'failed')
      must(event.webhookId !== undefined || last?.number === MAX_ATTEMPTS, 'A delivery fails after six attempts', name);
    const isMissed = delivery.status === 'canceled' || delivery.status === 'skipped';
    must(isMissed === (delivery.reason !== undefined), 'A missed event has its reason', name);
    if (delivery.reason) {
      const states = this.webhooks.all(webhook.id).flatMap(({ value }) => value ?? []);
      const wasDisabled = (reason: WebhookRecord['disabledReason']) =>
        states.some((value) => value.status === 'disabled' && value.disabledReason === reason);
      const isLateTest = event.webhookId !== undefined && states.some((value) => value.maxPerSecond !== undefined);
      const wasFull = this.service.filled.has(webhook.id) || isLateTest;
      const isTrue = {
        paused: wasDisabled('paused'),
        disabled: wasDisabled('deliveries_failed'),
        deleted: false, // nothing of a deleted webhook is recorded
        suspended: this.wasSuspended(),
        rate_limited: delivery.status === 'skipped' && wasFull,
      };
      must(isTrue[delivery.reason], 'Only a disabled or overloaded webhook misses an event', name);
    }
  }

  private onCounts(
    items: readonly Item[],
    events: readonly StoredEvent[],
    webhooks: readonly WebhookRecord[],
    { once, atMostOnce }: Promised,
  ): void {
    const counter = items.find(({ pk }) => String(pk).startsWith('COUNT#'))?.webhooks ?? 0;
    must(counter === webhooks.length, 'The webhook count is correct', `${counter} instead of ${webhooks.length}`);
    // Deleted webhooks count too.
    const ever = [...this.webhooks.ids()].map((id) => this.webhooks.all(id)[0]?.value?.description);
    const created = new Map<string, number>();
    for (const text of [...events.map(({ body }) => body), ...ever]) {
      const [marker] = /marker-\d+-\d+/.exec(text ?? '') ?? [];
      if (marker) created.set(marker, (created.get(marker) ?? 0) + 1);
    }
    for (const marker of atMostOnce) {
      const count = created.get(marker) ?? 0;
      const isRight = count === 1 || (count === 0 && !once.has(marker));
      must(isRight, 'An idempotency key takes effect once', `${marker} is there ${count} times`);
    }
  }

  /** The last failure of a delivery disables its webhook, unless it is already disabled. */
  private onExhausted(): void {
    for (const id of this.deliveries.ids()) {
      for (const { step, value } of this.deliveries.all(id)) {
        if (value?.status !== 'failed' || value.attempt !== MAX_ATTEMPTS) continue;
        const then = this.webhooks.between(value.webhookId, step, step);
        must(
          then.some((webhook) => webhook?.status !== 'enabled'),
          'The sixth failure disables the webhook',
          id,
        );
      }
    }
  }

  /** A connection that was not closed is lost once, when its last lease ended. */
  private onConnections(items: readonly Item[], events: readonly StoredEvent[], { goodbyes }: Promised): void {
    const isOpen = items.some(({ pk }) => String(pk).startsWith('CONNECTION#'));
    must(!isOpen, 'A connection ends when its lease expires', 'one is still open');
    const losses = events
      .map(({ type, body }) => ({ type, data: JSON.parse(body).data }))
      .filter(({ type, data }) => type === 'connection.lost' && data.marker === undefined)
      .map(({ data }) => data);
    for (const session of this.connections.ids()) {
      const last = this.connections.all(session).at(-1)?.value as ConnectionRecord;
      const lost = losses.filter(
        ({ connection_id, connected_at }) => `${connection_id} ${Date.parse(connected_at)}` === session,
      );
      const isLeft = goodbyes.some(([id, asked]) => id === last.id && asked > last.connectedAt - SKEW_MS);
      must(lost.length <= 1, 'A lost connection has one event', `${session} has ${lost.length}`);
      must(lost.length === 1 || isLeft, 'A lost connection has one event', `${session} has none`);
      const isTrue = lost.every(
        ({ lost_at, document_key }) => Date.parse(lost_at) === last.expiresAt && document_key === last.documentKey,
      );
      must(isTrue, 'A connection is lost when its last lease expires', session);
    }
  }

  /** Checks replicas after their last cycles. */
  converged(replicas: readonly Replica[], promised: Promised): void {
    this.guard(() => {
      onBroken(promised, this.model);
      onConverged([...this.service.db.items()], replicas, this.service.tables.current.number);
    });
  }

  /** A failing webhook has the start of its outage, and a warning was sent if a fourth attempt failed. */
  private onOutages(webhooks: readonly WebhookRecord[]): void {
    for (const webhook of webhooks) {
      const { id, status, failingSince, undeliveredSince, warnedBy, warnedAt } = webhook;
      const isOut = status === 'disabled' || failingSince !== undefined;
      must(!isOut || undeliveredSince !== undefined, 'An outage is recorded from its first failure', id);
      must(warnedBy === undefined || warnedAt !== undefined, 'Every due warning is sent', id);
    }
    for (const id of this.webhooks.ids()) {
      const states = this.webhooks.all(id).map(({ value }) => value);
      const outages = states.filter((now, i) => now?.warnedBy !== undefined && states[i - 1]?.warnedBy === undefined);
      const { length } = this.service.emails.failing.filter((each) => each === id);
      const due = states.filter((now, i) => now?.warnedAt !== undefined && states[i - 1]?.warnedAt === undefined);
      must(length >= due.length, 'Every due warning is sent', `${id}: ${length} of ${due.length}`);
      if (this.world.faults > 0) continue;
      must(
        length <= outages.length,
        'Without a fault, an outage has one warning',
        `${id}: ${length} of ${outages.length}`,
      );
    }
  }

  /** The first delivery that is skipped because the queue is full causes an email, until the queue was empty or the limit changed. */
  private onOverloads(): void {
    if (this.world.faults > 0) return;
    for (const id of this.webhooks.ids()) {
      const states = this.webhooks.all(id).map(({ value }) => value);
      const starts = states.filter((now, i) => now?.overloadedBy !== undefined && !states[i - 1]?.overloadedBy);
      const { length } = this.service.emails.overloaded.filter((each) => each === id);
      must(
        length === starts.length,
        'Without a fault, an overload has one email',
        `${id}: ${length} of ${starts.length}`,
      );
      const deliveries = [...this.deliveries.ids()].flatMap((delivery) => this.deliveries.all(delivery));
      const isSkipped = deliveries.some(
        ({ value }) => value?.webhookId === id && value.status === 'skipped' && !value.test,
      );
      // The fan-out also skips the deliveries of a suspended project.
      const isTold = length > 0 || this.wasSuspended() || states.some((value) => value?.status === 'disabled');
      must(!isSkipped || isTold, 'Without a fault, an overload has one email', `${id}: none`);
    }
  }

  private wasSuspended(fromStep = 0): boolean {
    const states = this.projects.between('PROJECT#prj_1', fromStep, this.world.steps);
    return states.some((project) => project?.suspendedAt !== undefined);
  }

  /** A fault, or a message that is received again, causes at most one more message of a recovery. */
  private onPages(): void {
    const versions = [...this.recoveries.ids()].flatMap((id) => this.recoveries.all(id));
    const last = new Map(versions.flatMap(({ value }) => (value ? [[value.id, value.page + 1] as const] : [])));
    for (const [id, pages] of last) {
      const { queued, received } = this.messages.get(id) ?? { queued: 0, received: 0 };
      const isBounded = queued <= pages + this.world.faults + (received - queued);
      must(isBounded, 'Messages of a recovery do not multiply', `${id}: ${queued} messages for ${pages} pages`);
    }
  }

  /** Every run of a recovery is counted once, by its last result. */
  private onRecoveryCounts(items: readonly Item[]): void {
    for (const { pk, id, sent = 0, delivered = 0, failed = 0 } of items) {
      const [kind, webhookId = ''] = String(pk).split('#');
      if (kind !== 'RECOVERY') continue;
      const histories = [...this.deliveries.ids()]
        .filter((delivery) => delivery.startsWith(`${webhookId} `))
        .map((delivery) =>
          this.deliveries.all(delivery).flatMap(({ value }) => (value?.recovery === id ? [value] : [])),
        );
      const ends = histories.flatMap((versions) => versions.at(-1)?.status ?? []);
      const succeeded = ends.filter((status) => status === 'succeeded').length;
      const pending = ends.filter((status) => status === 'pending').length; // of a deleted webhook
      const expected = [ends.length, succeeded, ends.length - succeeded - pending];
      const isRight = JSON.stringify([sent, delivered, failed]) === JSON.stringify(expected);
      must(isRight, 'A recovery counts its deliveries', `${id}: ${[sent, delivered, failed]} instead of ${expected}`);
    }
  }

  private onRecovered(webhooks: readonly WebhookRecord[], { recovered, stops }: Promised): void {
    for (const { delivery, step } of recovered) {
      const { webhookId, eventId, run } = delivery;
      const states = this.webhooks.between(webhookId, step, this.world.steps);
      const isStopped =
        states.some((webhook) => webhook?.status === 'disabled') ||
        stops.some((stop) => stop.webhookId === webhookId && stop.until >= step) ||
        this.wasSuspended(step);
      if (isStopped || !webhooks.some(({ id }) => id === webhookId)) continue;
      const now = this.service.delivery(webhookId, eventId);
      must((now?.run ?? 0) > run, 'A recovery includes every delivery', `${eventId} to ${webhookId}`);
    }
  }

  private onEmails(): void {
    const { length } = this.service.emails.disabled;
    must(length >= this.disablings - this.undone, 'Every disabling has its email', `${length} for ${this.disablings}`);
    if (this.world.faults === 0)
      must(
        length <= this.disablings,
        'Without a fault, every disabling has one email',
        `${length} for ${this.disablings}`,
      );
  }
}

const idOf = (webhookId: string, eventId: string): string => `${webhookId} ${eventId}`;

/** Whether an attempt was still due in this state of the delivery. */
function isBefore({ run, attempt }: Received, delivery: DeliveryRecord): boolean {
  if (delivery.run !== run) return delivery.run < run;
  return isUnderWay(delivery.status) && delivery.attempt < attempt;
}

/**
 * A response that denies an effect is true, also if a response of the table was lost, or an earlier run of the request ended
 * without a response. A restore undoes effects. The record of its idempotency key and the budget of emails are no effects, but a run
 * must not wait for its own record. A renewal of an engine that has to wait renews the lease, and says so.
 */
function onResponse({ method, resource }: Request, response: NonNullable<Response>, all: readonly Process[]): void {
  if (!WITHOUT_EFFECT.includes(response.status)) return;
  const runs = all.filter(({ table }) => table === response.table);
  const ignored = ['IDEMPOTENCY', 'EMAILS', ...(response.status === 429 ? ['ENGINE'] : [])];
  const own = runs.at(-1);
  const end = own?.releasedAt ?? Number.POSITIVE_INFINITY;
  const written = isInProgress(response)
    ? [...(own?.written.keys() ?? [])]
    : runs.flatMap((run) =>
        [...run.written].flatMap(([kind, step]) => (step > end || ignored.includes(kind) ? [] : kind)),
      );
  must(
    written.length === 0,
    'A request that took effect never returns 404, 409, 412 or 429',
    `${method} ${resource} returned ${response.status} after it wrote ${written}`,
  );
}

function onDelivery(before: DeliveryRecord | undefined, after: DeliveryRecord): void {
  const name = idOf(after.webhookId, after.eventId);
  if (before) {
    must(after.run >= before.run, 'A run never goes back', name);
    if (after.run === before.run) {
      const isMoving = isUnderWay(before.status) || before.status === after.status;
      must(isMoving, 'An ended run does not change', `${name}: ${before.status} became ${after.status}`);
      must(after.attempt >= before.attempt, 'Attempts never go back', name);
    }
  }
  const { attempts } = after;
  const added = attempts.slice(before?.attempts.length ?? 0);
  if (before && attempts.length <= before.attempts.length) return;
  for (const attempt of added) {
    const i = attempts.indexOf(attempt);
    const previous = attempts[i - 1];
    const isFirst = attempt.number === 1;
    must(attempt.number <= MAX_ATTEMPTS, 'A run has at most six attempts', name);
    if (isFirst || !previous) continue;
    must(
      previous.number < attempt.number,
      'Each attempt is recorded once',
      `${name}: ${previous.number}, ${attempt.number}`,
    );
    if (previous.number === attempt.number - 1) onDelay(name, previous, attempt);
  }
}

/**
 * Three clocks contribute, each with at most half of the skew: those that recorded the attempt, queued the next one, and made it.
 */
const CLOCKS_SKEW_MS = 1.5 * SKEW_MS;

function onDelay(name: string, previous: Attempt, attempt: Attempt): void {
  const delayMs = (RETRY_DELAYS_SECONDS[previous.number - 1] ?? 0) * 1000;
  const passedMs = attempt.at - (previous.at + previous.durationMs);
  must(
    passedMs >= delayMs - CLOCKS_SKEW_MS,
    'No delay is shorter than the schedule',
    `${name}: ${passedMs} ms instead of ${delayMs}`,
  );
}

function onKey(before: KeyRecord | undefined, after: KeyRecord | undefined): void {
  if (!before) return;
  must(
    after !== undefined && (before.revokedAt === undefined || after.revokedAt === before.revokedAt),
    'A revoked key stays revoked',
    before.id,
  );
  const isSame = before.replacedBy === undefined || before.replacedBy === after.replacedBy;
  must(isSame, 'A key is rotated once', before.id);
}

/** The stats match the deliveries, by hour and by day. */
function onStats(items: readonly Item[], histories: readonly (DeliveryRecord | undefined)[][]): void {
  const expected = new Map<string, number>();
  const count = ({ webhookId, eventType }: DeliveryRecord, counter: string, times: number) => {
    const name = `${webhookId} ${eventType.replace('.', '_')}_${counter}`;
    if (times > 0) expected.set(name, (expected.get(name) ?? 0) + times);
  };
  for (const history of histories) {
    const versions = history.filter((version) => version !== undefined);
    const last = versions.at(-1);
    const attempts = [
      ...new Map(
        versions.flatMap((version) => version.attempts.map((each) => [`${each.number} ${each.at}`, each] as const)),
      ).values(),
    ];
    if (!last || last.test) continue;
    count(last, 'delivered', attempts.filter(isSuccess).length);
    count(last, 'attempts_failed', attempts.filter((attempt) => !isSuccess(attempt)).length);
    for (const status of ['failed', 'skipped', 'canceled'])
      count(last, status, new Set(versions.filter((each) => each.status === status).map(({ run }) => run)).size);
  }
  for (const period of ['hour', 'day']) {
    const counted = new Map<string, number>();
    for (const stats of items) {
      const [pk, sk] = [String(stats.pk), String(stats.sk)];
      if (!pk.startsWith('FIGURES#') || !sk.startsWith(period)) continue;
      for (const [name, value] of Object.entries(stats)) {
        if (!/_(delivered|attempts_failed|failed|skipped|canceled)$/.test(name)) continue;
        const id = `${pk.slice('FIGURES#'.length)} ${name}`;
        counted.set(id, (counted.get(id) ?? 0) + Number(value));
      }
    }
    for (const name of new Set([...counted.keys(), ...expected.keys()])) {
      const [found, wanted] = [counted.get(name) ?? 0, expected.get(name) ?? 0];
      must(found === wanted, 'Stats match the deliveries', `${period}: ${name} is ${found}, not ${wanted}`);
    }
  }
}

/** The backlog of each webhook matches its deliveries. */
function onBacklog(items: readonly Item[], deliveries: readonly (DeliveryRecord | undefined)[]): void {
  const [expected, counted] = [new Map<string, number>(), new Map<string, number>()];
  const add = (to: Map<string, number>, name: string, count: number) => to.set(name, (to.get(name) ?? 0) + count);
  for (const delivery of deliveries) {
    if (!delivery || delivery.test || ['pending', 'succeeded'].includes(delivery.status)) continue;
    const { webhookId, status, reason } = delivery;
    const state = status === 'retrying' ? status : reason === 'paused' ? 'paused' : 'missed';
    add(expected, `${webhookId} ${state}`, 1);
  }
  for (const { pk, sk, ...item } of items) {
    if (!String(sk).startsWith('backlog#')) continue;
    for (const [name, count] of Object.entries(item)) {
      const [, state] = /^(missed|paused|retrying)_\d+$/.exec(name) ?? [];
      if (state) add(counted, `${String(pk).slice('FIGURES#'.length)} ${state}`, Number(count));
    }
  }
  for (const name of new Set([...expected.keys(), ...counted.keys()])) {
    const [found, wanted] = [counted.get(name) ?? 0, expected.get(name) ?? 0];
    must(found === wanted, 'The backlog matches the deliveries', `${name} is ${found}, not ${wanted}`);
  }
}

function onBroken(promised: Promised, model: Model): void {
  for (const [invariant, detail] of [...promised.broken, ...model.broken]) must(false, invariant, detail);
}

/** Every revocation, rotation and disabling is in the audit log, because one transaction writes both. */
function onAudit(items: readonly Item[], keys: readonly KeyRecord[]): void {
  const entries = items.filter(({ pk }) => String(pk).startsWith('AUDIT#')) as unknown as AuditRecord[];
  const targets = (action: AuditRecord['action']) =>
    new Set(entries.filter((entry) => entry.action === action).map(({ target }) => target));
  const ended: [AuditRecord['action'], string[]][] = [
    ['key.revoked', keys.filter(({ revokedAt }) => revokedAt !== undefined).map(({ id }) => id)],
    ['key.rotated', keys.filter(({ replacedBy }) => replacedBy !== undefined).map(({ id }) => id)],
    [
      'webhook.disabled',
      items.filter(({ disabledReason }) => disabledReason === 'deliveries_failed').map(({ id }) => String(id)),
    ],
    ['token.revoked', keys.flatMap(({ revokedTokens = [] }) => revokedTokens)],
  ];
  for (const [action, ids] of ended) {
    const told = targets(action);
    for (const id of ids) must(told.has(id), 'Every change is in the audit log', `${action} ${id}`);
  }
}

/** The entries of the index by type lead to all events, and to the document of each. */
function onLists(items: readonly Item[]): void {
  const textOf = ({ pk, sk, documentKey }: Item) => [pk, sk, documentKey].join(' ');
  const listed = items.filter(({ byType }) => byType !== undefined).flatMap(keysOfEntry);
  const stored = items.filter(({ pk }) => String(pk).startsWith('EVENT#'));
  const [found, expected] = [listed.map(textOf).sort().join(), stored.map(textOf).sort().join()];
  must(found === expected, 'Lists contain each event once', `${listed.length} of ${stored.length} events`);
}

const LOST_ONCE = 'A connection of an engine is lost once, unless it closed';

/** A connection of an engine is lost at most once, exactly once if its lease ended with it, and never after it closed. */
function onEngines(items: readonly Item[], events: readonly StoredEvent[], { engineConnections }: Promised): void {
  const isOpen = items.some(({ pk, sk }) => String(pk).startsWith('ENGINE#') && String(sk).includes('#'));
  must(!isOpen, LOST_ONCE, 'one is still open');
  const losses = events
    .filter(({ type }) => type === 'connection.lost')
    .map(({ body }) => JSON.parse(body).data as { connection_id: string; connected_at: string });
  for (const [id, { openedAt, isClosing, isClosed }] of engineConnections) {
    const times = losses
      .filter(({ connection_id }) => connection_id === id)
      .map(({ connected_at }) => Date.parse(connected_at));
    must(new Set(times).size === times.length, LOST_ONCE, `${id} has two events`);
    if (openedAt === undefined) continue;
    // A repetition of the request can have opened it in an earlier lease too, of at least ten seconds.
    const lost = times.filter((time) => time > openedAt - 2 * SKEW_MS).length;
    must(lost <= 1, LOST_ONCE, `${id} has two events`);
    must(lost === 1 || isClosing === true, LOST_ONCE, `${id} has none`);
    must(lost === 0 || isClosed !== true, LOST_ONCE, `${id} has closed`);
  }
}
