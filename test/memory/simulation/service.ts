import {
  connectionDeps,
  countDeps,
  type DeliveryQueue,
  deliverDeps,
  documentOperations,
  eventOperations,
  fanOutDeps,
  keyOperations,
  serveOperations,
  tokenOperations,
  webhookOperations,
} from '../../../functions/wiring.ts';
import { domainError, isOutage } from '../../../lib/aws/domain-errors.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import { createTable, type Table, type TableOptions } from '../../../lib/aws/table.ts';
import type { TimedOutcome } from '../../../lib/deliveries/attempt.ts';
import { type BatchDeps, deliverBatch } from '../../../lib/deliveries/batch.ts';
import { type FanOutDeps, fanOutBatch } from '../../../lib/deliveries/fan-out.ts';
import { LANES, type Lane, QUICK_WITHIN_MS, SUSPECT_AFTER_MS } from '../../../lib/deliveries/lanes.ts';
import { LOG_PARTITIONS } from '../../../lib/deliveries/log-partitions.ts';
import { toDelivery } from '../../../lib/deliveries/log-store.ts';
import type { Watch } from '../../../lib/deliveries/make-attempt.ts';
import type { QueueMessage } from '../../../lib/deliveries/messages.ts';
import type { Post } from '../../../lib/deliveries/post.ts';
import { type DeliveryRecord, isRecoverable } from '../../../lib/deliveries/record.ts';
import { settingAside } from '../../../lib/deliveries/set-aside.ts';
import { type DeliveryChange, type Tally, tally } from '../../../lib/deliveries/stats.ts';
import { BY_STATUS } from '../../../lib/deployment.ts';
import { connectionHandlers } from '../../../lib/documents/connection-handlers.ts';
import type { CheckMessage } from '../../../lib/documents/connections.ts';
import { type ConnectionsDeps, checkConnection } from '../../../lib/documents/lost-connections.ts';
import { RefusedError } from '../../../lib/errors.ts';
import type { StoredEvent } from '../../../lib/events/event.ts';
import { toStoredEvent } from '../../../lib/events/store.ts';
import type { ApiFunction } from '../../../lib/http/operation.ts';
import type { ApiHandler, Handlers } from '../../../lib/http/serve.ts';
import { newApiKey } from '../../../lib/keys/api-key.ts';
import { authenticate } from '../../../lib/keys/authenticate.ts';
import { type KeyRecord, newKeyRecord } from '../../../lib/keys/key.ts';
import { apiKeys } from '../../../lib/keys/store.ts';
import type { Email } from '../../../lib/projects/emails.ts';
import { projects } from '../../../lib/projects/store.ts';
import type { Space } from '../../../lib/space.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { MemoryDynamoDb } from './dynamodb.ts';
import { type Behaviour, OUTCOMES, type Received } from './endpoints.ts';
import type { Item } from './expressions.ts';
import { HotPartition } from './hot-partition.ts';
import { proxyEventOf, type Request, type Response } from './requests.ts';
import type { Command } from './requests-of.ts';
import { SimulatedQueue, SimulatedScheduler, SimulatedStream } from './services.ts';
import type { Process, World } from './world.ts';

export interface SentEmail {
  webhookId: string;
  at: number;
}

/** Changes to the real code or its dependencies that break a promise. */
export interface PlantedBug {
  /** Changes a command to the table. */
  command?(command: Command): Command;
  /** Changes an error of the table. */
  error?(error: unknown): unknown;
  deliver?(deps: BatchDeps): BatchDeps;
  fanOut?(deps: FanOutDeps): FanOutDeps;
  isOutage?(error: unknown): boolean;
  /** Changes the stats of a batch. */
  stats?(tallies: Tally[]): Tally[];
  handlers?(handlers: Record<string, unknown>): Record<string, unknown>;
  authenticate?: typeof authenticate<KeyRecord>;
  connections?(deps: ConnectionsDeps): ConnectionsDeps;
  /** Whether a failed message is acknowledged. */
  isDone?(error: unknown, message: object): boolean;
  /** Changes how a request sends messages to the queue. */
  enqueue?(enqueue: Enqueue): Enqueue;
}

const API_LIMIT_MS = 20_000;
const DELIVER_LIMIT_MS = 30_000;
const FAN_OUT_LIMIT_MS = 60_000;
const CHECK_LIMIT_MS = 30_000;
/** The delays until indexes and eventually consistent reads contain a write. Most writes take milliseconds. */
const REPLICATION_MS = [1, 10, 900];
/** The queues reject 1 in this many events, until an operator replays it. */
const REFUSED_EVERY = 32;
const REPLAY_AFTER_MS = 10 * 60 * 1000;
const STATS_LIMIT_MS = 60_000;
/** How long changes are gathered before they are counted (infra/stats.ts). A full batch does not wait. */
const GATHERING_MS = 30_000;
/** The shards of the stream for stats. DynamoDB can split a partition within a log. */
const SHARDS = ['shard-0', 'shard-1'];

/** The real code of the service on simulated services. */
export class SimulatedService {
  readonly db: MemoryDynamoDb;
  readonly queues: Record<Lane, SimulatedQueue<QueueMessage>>;
  readonly checks: SimulatedQueue<CheckMessage>;
  readonly scheduler: SimulatedScheduler;
  readonly stream: SimulatedStream<StoredEvent>;
  readonly shards: ReadonlyMap<string, SimulatedStream<DeliveryChange>>;
  readonly hotPartition: HotPartition;
  readonly endpoints = new Map<string, Behaviour>();
  readonly received: Received[] = [];
  readonly emails: SentEmail[] = [];
  readonly warnings: SentEmail[] = [];
  /** The events that the fan-out set aside, including replayed ones. */
  readonly setAside = new Map<string, StoredEvent>();
  readonly replayed = new Set<string>();
  readonly space: Space = { projectId: 'prj_1', environment: 'live' };
  /** Called for every change of an item, and for every POST. */
  onChange: (before: Item | undefined, after: Item | undefined) => void = () => {};
  onPost: (post: Received) => void = () => {};
  /** Receives each webhook whose overdue attempt stays in the quick lane, and the URL of each attempt that lasted too long there. */
  onStay: (webhookId: string) => void = () => {};
  onLongAttempt: (url: string) => void = () => {};
  private readonly world: World;
  private readonly bug: PlantedBug;
  /** The first admin key, which the users have. */
  adminKey = '';
  adminKeyId = '';
  private tokens = 0;
  private sequence = 0;

  constructor(world: World, bug: PlantedBug = {}) {
    this.world = world;
    this.bug = bug;
    this.hotPartition = new HotPartition(world);
    const consumer = (lane: Lane) => (batch: readonly QueueMessage[], settle: Settle) =>
      this.deliver(lane, batch, settle);
    this.queues = Object.fromEntries(
      LANES.map((lane) => [lane, new SimulatedQueue(world, consumer(lane), 0.02)]),
    ) as Record<Lane, SimulatedQueue<QueueMessage>>;
    this.checks = new SimulatedQueue(world, (batch, settle) => this.check(batch, settle), 0.02);
    this.scheduler = new SimulatedScheduler(world, (message) => this.queues.quick.send(message));
    this.stream = new SimulatedStream<StoredEvent>(world, (batch, settle) => this.fanOut(batch, settle));
    this.shards = new Map(
      SHARDS.map((shard) => [
        shard,
        new SimulatedStream<DeliveryChange>(world, (batch, settle) => this.count(shard, batch, settle), [
          200,
          GATHERING_MS,
          GATHERING_MS,
        ]),
      ]),
    );
    this.db = new MemoryDynamoDb({
      onChange: (before, after) => {
        if (!before && String(after?.pk).startsWith('EVENT#')) this.stream.append(toStoredEvent(after as Item));
        if (after && String(after.pk).startsWith('HOOK#')) this.appendChange(before, after);
        this.onChange(before, after);
      },
      replicate: (apply) => world.after(world.pick(REPLICATION_MS), apply),
    });
  }

  /** Creates a project with an admin key, without faults. */
  async setUp(): Promise<void> {
    const { random, now } = this.world;
    const documents = { send: async (command: object) => this.db.execute(commandOf(command)) };
    const table = createTable('table', { documents } as unknown as TableOptions);
    const key = newApiKey('admin', now, random);
    const record = newKeyRecord(key, { projectId: 'prj_1', name: 'Admin', tokenSecret: 'secret', createdAt: now });
    const project = { id: 'prj_1', name: 'Test', emails: ['test@example.com'], cursorSecret: 'secret', createdAt: now };
    await projects(table).create(project, record);
    this.adminKeyId = key.id;
    this.adminKey = key.key;
  }

  /** Whether no work is pending. */
  get isIdle(): boolean {
    const waiting = [...this.setAside.keys()].some((id) => !this.replayed.has(id));
    return (
      !waiting &&
      [...this.allQueues, this.scheduler, this.stream, ...this.shards.values()].every(({ size }) => size === 0)
    );
  }

  /** The number of messages that arrived hours late. */
  get lateMessages(): number {
    return this.allQueues.reduce((sum, { late }) => sum + late, 0);
  }

  get deadLetters(): number {
    return this.allQueues.reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  }

  private get allQueues() {
    return [...Object.values(this.queues), this.checks];
  }

  get isAnyDisabled(): boolean {
    for (const { pk, status } of this.db.items())
      if (status === 'disabled' && String(pk).startsWith('HOOKS#')) return true;
    return false;
  }

  /** Returns the delivery of an event in the log of a webhook. */
  delivery(webhookId: string, eventId: string): DeliveryRecord | undefined {
    const { pk, sk } = itemKey.delivery(webhookId, eventId);
    const item = this.db.get(pk, sk);
    return item && toDelivery(item);
  }

  /** Returns the deliveries of a webhook that ended without success. */
  undelivered(webhookId: string): DeliveryRecord[] {
    const ofWebhook = [...this.db.items()].filter(({ pk }) => String(pk).startsWith(`HOOK#${webhookId}#`));
    return ofWebhook.map(toDelivery).filter((delivery) => isRecoverable(delivery, 0));
  }

  /** Returns the time since which a webhook can have missed events. */
  undeliveredSince(webhookId: string): number | undefined {
    return (this.db.get(`HOOKS#prj_1#live`, webhookId) as unknown as WebhookRecord | undefined)?.undeliveredSince;
  }

  private urlOf(webhookId: string): string {
    return String(this.db.get('HOOKS#prj_1#live', webhookId)?.url);
  }

  get hasDocuments(): boolean {
    for (const { pk } of this.db.items()) if (String(pk).startsWith('DOCS#')) return true;
    return false;
  }

  /** Sends one request. */
  request(request: Request): Promise<Response> {
    return new Promise((resolve) => {
      this.world.spawn(
        `${request.method} ${request.resource}`,
        API_LIMIT_MS,
        async (process) => {
          const { statusCode, body } = await this.api(request.fn, process)(proxyEventOf(request, this.space.projectId));
          resolve({ status: statusCode, body: (body ? JSON.parse(body) : undefined) as never });
        },
        () => resolve(null),
      );
    });
  }

  /** Calls with a key and returns whether it works, or `null` without a response. */
  authorize(key: string): Promise<boolean | null> {
    return new Promise((resolve) => {
      const work = async (process: Process): Promise<void> => {
        const { platform, done } = this.holding(this.platformOf(process));
        const check = this.bug.authenticate ?? authenticate;
        const found = check(key, { keys: apiKeys(platform.table), clock: platform.clock });
        resolve(
          await found.finally(done).then(
            (authenticated) => authenticated !== null,
            () => null,
          ),
        );
      };
      this.world.spawn('authorize', API_LIMIT_MS, work, () => resolve(null));
    });
  }

  private tableOf(process: Process): Table {
    const send = (given: object): Promise<object> => {
      let command = commandOf(given);
      if (command.name === 'TransactWrite') {
        command = { ...command, input: { ClientRequestToken: `token ${this.tokens++}`, ...command.input } };
      }
      const changed = this.bug.command?.(command) ?? command;
      // All partitions of a log are read together, so each read has only its share of the risk.
      const risk = command.input.IndexName === BY_STATUS ? 1 / LOG_PARTITIONS : 1;
      const perform = (): object => {
        try {
          return this.hotPartition.perform(command, (served) =>
            this.db.execute(served, served === command ? changed : served),
          );
        } catch (error) {
          throw this.bug.error?.(error) ?? error;
        }
      };
      return this.world.call(process, `dynamodb ${command.name}`, perform, TABLE_FAULTS, risk);
    };
    return createTable('table', {
      documents: { send },
      pause: () => this.world.wait(process, 20),
      now: this.clockOf(process),
    } as unknown as TableOptions);
  }

  private clockOf(process: Process): () => number {
    return () => this.world.now + process.skewMs;
  }

  private async send(process: Process, lane: Lane, message: QueueMessage, delaySeconds = 0): Promise<void> {
    await this.world
      .call(process, 'sqs SendMessage', () => this.queues[lane].send(message, delaySeconds))
      .catch((error: unknown) => {
        throw domainError(error);
      });
  }

  private fanOut(batch: readonly StoredEvent[], settle: Settle): void {
    this.run('fan-out', FAN_OUT_LIMIT_MS, batch, settle, (process) => {
      const wired = fanOutDeps(this.platformOf(process));
      const deps: FanOutDeps = {
        ...wired,
        enqueue: async (lane, messages) => {
          const refused = messages.find(({ eventId }) => this.isRefusable(eventId) && !this.replayed.has(eventId));
          if (refused) throw new RefusedError(`SQS refuses ${refused.eventId}`);
          await wired.enqueue(lane, messages);
        },
      };
      const fanOut = fanOutBatch(this.bug.fanOut?.(deps) ?? deps);
      return settingAside<StoredEvent>(async (event) => void (await fanOut(event)), {
        isOutage: this.bug.isOutage ?? isOutage,
        setAside: (event) => this.world.call(process, 's3 PutObject', () => this.keep(event)),
      });
    });
  }

  /** Whether the queues reject an event until it is replayed. */
  isRefusable(eventId: string): boolean {
    const sum = [...eventId].reduce((total, character) => total + character.charCodeAt(0), 0);
    return sum % REFUSED_EVERY === 0;
  }

  /** Stores an event that was set aside. After a while an operator fixes the cause and replays it. */
  private keep(event: StoredEvent): void {
    if (this.setAside.has(event.id)) return;
    this.setAside.set(event.id, event);
    this.world.after(REPLAY_AFTER_MS, () => {
      this.replayed.add(event.id);
      this.stream.append(event);
    });
  }

  private appendChange(before: Item | undefined, after: Item): void {
    const shard = SHARDS[String(after.sk).charCodeAt(String(after.sk).length - 1) % SHARDS.length] ?? '';
    const change = {
      before: before && toDelivery(before),
      after: toDelivery(after),
      sequence: String(++this.sequence),
    };
    this.shards.get(shard)?.append(change);
  }

  /** Runs one invocation for a batch of changes, which is retried as a whole. */
  private count(shard: string, batch: readonly DeliveryChange[], settle: Settle): void {
    const work = async (process: Process): Promise<void> => {
      const { add } = countDeps(this.platformOf(process));
      const tallies = tally(batch);
      const adding = (this.bug.stats?.(tallies) ?? tallies).map((each) => add(each, shard));
      settle(
        await Promise.all(adding).then(
          () => new Set<number>(),
          () => 'all' as const,
        ),
      );
    };
    this.world.spawn('stats', STATS_LIMIT_MS, work, () => settle('all'));
  }

  private deliver(lane: Lane, batch: readonly QueueMessage[], settle: Settle): void {
    this.run(`deliver ${lane}`, DELIVER_LIMIT_MS, batch, settle, (process) => {
      const wired = deliverDeps({
        ...this.platformOf(process),
        lane,
        dashboardUrl: '',
        sendEmail: (email) => this.sendEmail(process, email),
        post: (post, watch) => this.post(process, lane, batch, post, watch),
        schedule: (name, { body }, atMs) =>
          this.world.call(process, 'scheduler CreateSchedule', () => this.scheduler.create(name, atMs, body)),
        done: () => {},
      });
      const takeSlots: BatchDeps['takeSlots'] = async (message, maxPerSecond, requests, nowMs) => {
        const slots = await wired.takeSlots(message, maxPerSecond, requests, nowMs);
        process.tokensAt.set(message.webhookId, nowMs);
        return slots;
      };
      const deps = { ...wired, takeSlots };
      const { suspect, ...rest } = this.bug.deliver?.(deps) ?? deps;
      return deliverBatch(batch, {
        ...rest,
        suspect: async (message, slowUntil, nowMs) => {
          const isFirst = await suspect(message, slowUntil, nowMs);
          const { webhookId } = message;
          if (isFirst && lane === 'quick' && process.posting.has(this.urlOf(webhookId))) this.onStay(webhookId);
          return isFirst;
        },
      });
    });
  }

  private sendEmail(process: Process, { subject, text }: Email): Promise<void> {
    const sent = subject.startsWith('Webhook failing') ? this.warnings : this.emails;
    const webhookId = /whk_\w+/.exec(text)?.[0] ?? '';
    return this.world.call(process, 'ses SendEmail', () => void sent.push({ webhookId, at: this.world.now }));
  }

  private connectionsOf(process: Process): ConnectionsDeps {
    const deps = connectionDeps(this.platformOf(process));
    return this.bug.connections?.(deps) ?? deps;
  }

  private check(batch: readonly CheckMessage[], settle: Settle): void {
    this.run('check-connection', CHECK_LIMIT_MS, batch, settle, (process) => {
      const deps = this.connectionsOf(process);
      return (message) => checkConnection(message, deps);
    });
  }

  /** Runs one invocation for a batch. Failed entries are retried, or all entries if the process is killed. */
  private run<Entry extends object>(
    name: string,
    limitMs: number,
    batch: readonly Entry[],
    settle: Settle,
    start: (process: Process) => (entry: Entry) => Promise<unknown>,
  ): void {
    const work = async (process: Process): Promise<void> => {
      const handle = start(process);
      const failed = new Set<number>();
      await Promise.all(
        batch.map((entry, i) => handle(entry).catch((error) => this.bug.isDone?.(error, entry) || failed.add(i))),
      );
      settle(failed);
    };
    this.world.spawn(name, limitMs, work, () => settle('all'));
  }

  private async post(
    process: Process,
    lane: Lane,
    batch: readonly QueueMessage[],
    { url, headers, body }: Post,
    watch: Watch,
  ): Promise<TimedOutcome> {
    const eventId = headers['X-Service-Event-Id'] ?? '';
    const attempt = Number(headers['X-Service-Attempt']);
    const runs = batch.map((message) =>
      'recover' in message || message.eventId !== eventId || message.attempt !== attempt ? -1 : message.run,
    );
    const behaviour = await this.world.call(
      process,
      'POST',
      () => {
        const received = {
          step: this.world.steps,
          at: this.world.now,
          url,
          eventId,
          run: Math.max(...runs),
          attempt,
          headers,
          body,
          tokensAt: new Map(process.tokensAt),
          readAt: process.readAt,
        };
        this.received.push(received);
        this.onPost(received);
        const found = this.endpoints.get(url) ?? 'responds';
        return found === 'wavers' ? this.world.pick(['responds', 'fails'] as const) : found;
      },
      ['killed before', 'killed after'],
    );
    const [statusCode, error, durationMs] = OUTCOMES[behaviour];
    this.world.tell(() => `  the endpoint ${behaviour}`);
    process.posting.add(url);
    await Promise.race([this.pass(process, durationMs, watch), aborted(watch.signal)]).finally(() =>
      process.posting.delete(url),
    );
    if (lane === 'quick' && durationMs > SUSPECT_AFTER_MS) this.onLongAttempt(url);
    return { statusCode, error, durationMs, waitedMs: durationMs, excerpt: null };
  }

  /** The duration of an attempt, with the ticks that matter. */
  private async pass(process: Process, durationMs: number, { tick, signal }: Watch): Promise<void> {
    let passedMs = 0;
    for (const atMs of [QUICK_WITHIN_MS, SUSPECT_AFTER_MS].filter((ms) => ms < durationMs)) {
      await this.world.wait(process, atMs - passedMs);
      if (signal.aborted) return;
      tick(atMs);
      passedMs = atMs;
    }
    await this.world.wait(process, durationMs - passedMs);
  }

  private api(fn: ApiFunction, process: Process): ApiHandler {
    const platform = this.platformOf(process);
    const held = this.holding(platform);
    const all = {
      webhooks: () => {
        const { quick } = platform.queues;
        const sendAll = this.bug.enqueue?.(quick.sendAll) ?? quick.sendAll;
        return webhookOperations({ ...platform, queue: { ...quick, sendAll } });
      },
      events: () => eventOperations(platform),
      keys: () => keyOperations({ ...platform, sendEmail: async () => {} }),
      documents: () => ({ ...documentOperations(platform), ...connectionHandlers(this.connectionsOf(process)) }),
      tokens: () => ({ ...tokenOperations(held.platform), revokeToken: tokenOperations(platform).revokeToken }),
    };
    const own = all[fn as keyof typeof all]() as Record<string, unknown>;
    const operations = (this.bug.handlers?.(own) ?? own) as Handlers<'events'>;
    const respond = serveOperations<'events'>(platform, operations);
    return (event) => respond(event).finally(held.done);
  }

  /** The platform of one invocation, with the simulated services of its process. */
  private platformOf(process: Process) {
    const queueOf = (lane: Lane): DeliveryQueue => ({
      send: (message, delaySeconds) => this.send(process, lane, message, delaySeconds),
      sendAll: async (messages, delaySeconds) => {
        await Promise.all(messages.map((message) => this.send(process, lane, message, delaySeconds)));
      },
    });
    return {
      table: this.tableOf(process),
      clock: this.clockOf(process),
      random: this.world.random,
      log: { info: () => {}, warn: () => {} },
      reportFailure: () => {},
      queues: { quick: queueOf('quick'), new: queueOf('new'), slow: queueOf('slow') },
      scheduleCheck: (message: CheckMessage, delaySeconds: number) =>
        this.world.call(process, 'sqs SendMessage', () => this.checks.send(message, delaySeconds)),
    };
  }

  /** Signing and verifying tokens run on another thread. Virtual time stops from the read of a key until `done`. */
  private holding<Given extends { table: Table }>(platform: Given) {
    let done = () => {};
    const get: Table['get'] = async (key) => {
      const item = await platform.table.get(key);
      if (key.pk.startsWith('KEY#')) done = this.world.hold();
      return item;
    };
    return { platform: { ...platform, table: { ...platform.table, get } }, done: () => done() };
  }
}

type Enqueue = (messages: readonly QueueMessage[], delaySeconds?: number) => Promise<void>;
type Settle = (failed: ReadonlySet<number> | 'all') => void;

// A transaction contains a token and a conditional write contains an id, so a retry of the SDK has no second effect. Reads can be
// repeated freely.
const TABLE_FAULTS = ['refused', 'throttled', 'lost', 'repeated', 'killed before', 'killed after', 'late'] as const;

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

function commandOf(command: object): Command {
  const { input } = command as { input: object };
  return { name: command.constructor.name.slice(0, -'Command'.length), input };
}
