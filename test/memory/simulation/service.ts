import type { APIGatewayProxyResult, Context, DynamoDBRecord, SQSBatchResponse } from 'aws-lambda';
import type { Item } from '../../../infra/local/memory/paths.ts';
import { backendOf } from '../../../lib/aws/backend.ts';
import { itemKey, LOG_PARTITIONS } from '../../../lib/aws/items.ts';
import type { Post, TimedOutcome, Watch } from '../../../lib/deliveries/attempt.ts';
import { intervalOf, secondsOverBudget } from '../../../lib/deliveries/budget.ts';
import { QUICK_WITHIN_MS, SUSPECT_AFTER_MS } from '../../../lib/deliveries/lanes.ts';
import { toDelivery } from '../../../lib/deliveries/log-store.ts';
import { isDelivery, type QueueMessage } from '../../../lib/deliveries/messages.ts';
import { MAX_WAIT_MS } from '../../../lib/deliveries/rate-limit.ts';
import type { DeliveryRecord } from '../../../lib/deliveries/record.ts';
import { isRecoverable } from '../../../lib/deliveries/recovery-window.ts';
import { BY_STATUS } from '../../../lib/deployment.ts';
import { generateKey } from '../../../lib/keys/key.ts';
import { putFirstKey } from '../../../lib/keys/store.ts';
import { projects } from '../../../lib/projects/store.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import {
  CONSUMERS,
  consumerOf,
  createEntry,
  type Handler,
  queueRecord,
  scheduledMessage,
  streamRecord,
} from '../../support/entries.ts';
import type { RecordedDynamoDb } from '../../support/memory-table.ts';
import { type Command, runtimeWith, VARIABLES } from '../../support/runtime.ts';
import { type Behaviour, OUTCOMES, type Received } from './endpoints.ts';
import { HotPartition } from './hot-partition.ts';
import { authorizerEventOf, proxyEventOf, type Request, type Response } from './requests.ts';
import { type Settle, SimulatedQueue, SimulatedScheduler, SimulatedStream } from './services.ts';
import { type SimulatedTable, Tables } from './tables.ts';
import type { Process, World } from './world.ts';

const API_LIMIT_MS = 20_000;
const QUEUE_LIMIT_MS = 30_000;
const FAN_OUT_LIMIT_MS = 60_000;
const PROJECTS_LIMIT_MS = 60_000;
/** The queues reject 1 in this many events, until an operator replays it. */
const REFUSED_EVERY = 32;
const REPLAY_AFTER_MS = 10 * 60 * 1000;
const STATS_LIMIT_MS = 60_000;
/** How long changes are gathered before they are counted (infra/stats.ts). A full batch does not wait. */
const GATHERING_MS = 30_000;
/** The shards of the stream for stats. DynamoDB can split a partition within a log. */
const SHARDS = ['shard-0', 'shard-1'];
/** How often an invocation starts a new execution environment although a warm one is idle. */
const COLD_RATE = 0.2;

/** An execution environment of a function. It runs one invocation at a time and keeps its module state. */
interface Environment {
  handler: Handler;
  skewMs: number;
  process: Process | undefined;
  pending: Process['pending'];
  /** An environment reads the name and the epoch of its table once. */
  table: SimulatedTable;
}

/** The real code of the service on simulated services. */
export class SimulatedService {
  readonly tables: Tables;
  /** The queues by the functions that they feed. */
  private readonly queues: ReadonlyMap<string, SimulatedQueue<object>>;
  readonly scheduler: SimulatedScheduler;
  readonly stream: SimulatedStream<DynamoDBRecord>;
  readonly shards: ReadonlyMap<string, SimulatedStream<DynamoDBRecord>>;
  readonly hotPartition: HotPartition;
  readonly endpoints = new Map<string, Behaviour>();
  /** The webhooks that emails and summaries were about, once for each. */
  readonly emails = { failing: [] as string[], overloaded: [] as string[], disabled: [] as string[] };
  /** The webhooks whose queues were filled. */
  readonly filled = new Set<string>();
  /** The events that the fan-out set aside, including replayed ones. */
  readonly setAside = new Set<string>();
  readonly replayed = new Set<string>();
  /** Called for every change of an item with the number of its table, and for every POST. */
  onChange: (before: Item | undefined, after: Item | undefined, table: number) => void = () => {};
  onPost: (post: Received) => void = () => {};
  /** Receives the items of a restored table. */
  onRestore: (items: readonly Item[]) => void = () => {};
  /** Receives each message of the queues of lanes when a function receives it, and when a process sends it. */
  onReceive: (message: QueueMessage) => void = () => {};
  onSend: (message: QueueMessage, process: Process) => void = () => {};
  /** Receives each webhook whose overdue attempt stays in the quick lane, and the URL of each attempt that lasted too long there. */
  onStay: (webhookId: string) => void = () => {};
  onLongAttempt: (url: string) => void = () => {};
  /** Receives each response, with the processes that ran its request. An idempotency key can have several. */
  onResponse: (request: Request, response: NonNullable<Response>, runs: readonly Process[]) => void = () => {};
  private readonly world: World;
  /** The processes that ran each request, by its idempotency key. */
  private readonly runs = new Map<string, Process[]>();
  /** The process whose command the table performs. */
  private writer: Process | undefined;
  /** The first admin key, which the users have. */
  adminKey = '';
  adminKeyId = '';
  /** The budget of deliveries of the project. */
  deliveriesPerSecond = Number(VARIABLES.DELIVERIES_PER_SECOND);
  /** The deliveries that the fan-out has queued or skipped. */
  private fannedOut = 0;
  private tokens = 0;
  private sequence = 0;
  private readonly idle = new Map<string, Environment[]>();

  /** Without webhooks, nothing reads the stream. */
  constructor(world: World, hasWebhooks: boolean) {
    this.world = world;
    this.hotPartition = new HotPartition(world);
    this.queues = new Map(
      Object.values(CONSUMERS).map((fn) => [
        fn,
        new SimulatedQueue(world, (batch, settle) => this.consumeMessages(fn, batch, settle)),
      ]),
    );
    this.scheduler = new SimulatedScheduler(world);
    this.stream = new SimulatedStream<DynamoDBRecord>(world, (batch, settle) => this.fanOut(batch, settle));
    this.shards = new Map(
      SHARDS.map((shard) => [
        shard,
        new SimulatedStream<DynamoDBRecord>(world, (batch, settle) => this.count(shard, batch, settle), [
          200,
          GATHERING_MS,
          GATHERING_MS,
        ]),
      ]),
    );
    this.tables = new Tables(world, (before, after, table) => {
      this.noteWrite(before, after);
      const record = () => streamRecord(before, after, String(++this.sequence));
      if (hasWebhooks && !before && String(after?.pk).startsWith('EVENT#')) this.stream.append(record());
      if (after && String(after.pk).startsWith('HOOK#')) this.shardOf(after).append(record());
      this.onChange(before, after, table);
    });
  }

  private noteWrite(before: Item | undefined, after: Item | undefined): void {
    if (!this.writer) return;
    const { written } = this.writer;
    const kind = String((after ?? before)?.pk).split('#')[0] ?? '';
    if (!written.has(kind)) written.set(kind, this.world.steps);
    if (kind === 'IDEMPOTENCY' && !after) this.writer.releasedAt ??= this.world.steps;
  }

  get db(): RecordedDynamoDb {
    return this.tables.current.db;
  }

  /** Replaces the table by one with the state of an earlier backup, if there is one. */
  restore(): void {
    const items = this.tables.restore();
    if (items) this.onRestore(items);
  }

  /** Deletes expired items. No process does this. */
  expire(): void {
    this.writer = undefined;
    this.tables.expire();
  }

  /** Creates a project with an admin key and some other items, without faults. */
  async setUp(items: readonly Item[]): Promise<void> {
    const { random, now } = this.world;
    const { table } = backendOf(runtimeWith(async (command) => this.db.execute(command)));
    const admin = { projectId: 'prj_1', type: 'admin', name: 'Admin', tokenSecret: 'secret' } as const;
    const { key, record } = generateKey(admin, now, random);
    this.db.put(items);
    const project = { id: 'prj_1', name: 'Test', emails: ['test@example.com'], cursorSecret: 'secret', createdAt: now };
    await projects(table).create(project, putFirstKey(record));
    this.adminKeyId = record.id;
    this.adminKey = key;
  }

  /** Whether no work is pending. */
  get isIdle(): boolean {
    const waiting = [...this.setAside].some((id) => !this.replayed.has(id));
    return (
      !waiting &&
      [...this.queues.values(), this.scheduler, this.stream, ...this.shards.values()].every(({ size }) => size === 0)
    );
  }

  /** The number of messages that arrived hours late. */
  get lateMessages(): number {
    return [...this.queues.values()].reduce((sum, { late }) => sum + late, 0);
  }

  /** The time by the clock of the process whose command the table performs. */
  get writerClock(): number {
    return this.world.now + (this.writer?.skewMs ?? 0);
  }

  /** The time by which all deliveries so far advance the state of the budget. */
  get budgetMs(): number {
    return intervalOf(this.fannedOut, this.deliveriesPerSecond);
  }

  /** What the authorizer passes on about the budget. */
  private overBudget(): { publish_after?: string } {
    const usedUntil = this.db.get('PROJECT#prj_1', 'PROJECT')?.deliveriesUsedUntil as number | undefined;
    const seconds = secondsOverBudget(usedUntil, this.world.now);
    return seconds > 0 ? { publish_after: String(seconds) } : {};
  }

  get deadLetters(): number {
    return [...this.queues.values()].reduce((sum, { deadLetters }) => sum + deadLetters, 0);
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
    return ofWebhook.map(toDelivery).filter((delivery) => isRecoverable(delivery, { stuckBefore: 0 }));
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
    const isSuspended = this.db.get('PROJECT#prj_1', 'PROJECT')?.suspendedAt !== undefined;
    if (isSuspended) return Promise.resolve({ status: 403, body: {} as never, table: this.tables.current.number }); // by the authorizer
    const { fn, method, resource, idempotencyKey } = request;
    return new Promise((resolve) => {
      const work = async (handle: Handler, process: Process): Promise<void> => {
        const runs = [...(this.runs.get(idempotencyKey ?? '') ?? []), process];
        if (idempotencyKey !== undefined) this.runs.set(idempotencyKey, runs);
        const event = proxyEventOf(request, this.overBudget());
        const { statusCode, body } = (await handle(event as never, NO_CONTEXT)) as APIGatewayProxyResult;
        const content = (body ? JSON.parse(body) : undefined) as never;
        const response = { status: statusCode, body: content, table: process.table };
        this.onResponse(request, response, runs);
        resolve(response);
      };
      this.invoke(fn, `${method} ${resource}`, API_LIMIT_MS, work, () => resolve(null));
    });
  }

  /** Runs an operation on the project, like an operator. `null` if the outcome is unknown. */
  operate(input: object): Promise<true | null> {
    return new Promise((resolve) => {
      const work = (handle: Handler): Promise<void> =>
        handle(input as never, NO_CONTEXT).then(
          () => resolve(true),
          () => resolve(null),
        );
      this.invoke('projects', `projects ${JSON.stringify(input)}`, PROJECTS_LIMIT_MS, work, () => resolve(null));
    });
  }

  /** Calls with a credential and returns whether it works, or `null` without a response. */
  authorize(credential: string): Promise<boolean | null> {
    return new Promise((resolve) => {
      const work = async (handle: Handler): Promise<void> => {
        const answer = handle(authorizerEventOf(credential) as never, NO_CONTEXT);
        resolve(
          await answer.then(
            () => true,
            (error: Error) => (error.message === 'Unauthorized' ? false : null),
          ),
        );
      };
      this.invoke('authorizer', 'authorize', API_LIMIT_MS, work, () => resolve(null));
    });
  }

  /** Runs one invocation in an execution environment. A killed invocation ends its environment. */
  private invoke(
    fn: string,
    name: string,
    limitMs: number,
    work: (handler: Handler, process: Process) => Promise<void>,
    onDeath: () => void,
  ): void {
    const idle = this.idle.get(fn) ?? [];
    this.idle.set(fn, idle);
    const run = async (process: Process): Promise<void> => {
      const isWarm = !this.world.chance(COLD_RATE);
      let warm = isWarm ? idle.pop() : undefined;
      while (warm && !this.tables.isServed(warm.table)) warm = idle.pop();
      const environment = warm ?? this.start(fn, process);
      process.table = environment.table.number;
      environment.process = process;
      process.skewMs = environment.skewMs;
      process.pending = environment.pending;
      await work(environment.handler, process);
      if (process.isAlive) idle.push(environment);
    };
    this.world.spawn(name, limitMs, run, onDeath);
  }

  private start(fn: string, { skewMs, pending }: Process): Environment {
    const table = this.tables.current;
    const environment: Environment = { handler: async () => undefined, skewMs, process: undefined, pending, table };
    const processOf = () => environment.process as Process;
    const runtime = runtimeWith((command) => this.send(processOf(), table, command), {
      variables: { ...VARIABLES, DELIVERIES_PER_SECOND: String(this.deliveriesPerSecond) },
      clock: () => this.world.now + skewMs,
      random: this.world.random,
      wait: () => this.world.wait(processOf(), 20),
    });
    const keep = (record: DynamoDBRecord) => this.world.call(processOf(), 's3 PutObject', () => this.keep(record));
    environment.handler = createEntry(fn, runtime, {
      poster: () => (post, watch) => this.post(processOf(), fn, post, watch as Watch),
      keeper: () => keep as never,
    });
    return environment;
  }

  /** Performs a command of the SDK. */
  private send(process: Process, table: SimulatedTable, { name, input }: Command): Promise<object> {
    switch (name) {
      case 'SendMessageBatch':
        return this.world.call(process, 'sqs SendMessageBatch', () => this.enqueue(process, input));
      case 'CreateSchedule': {
        const { at, queueUrl, body } = scheduledMessage(input);
        const create = () => this.scheduler.create(input.Name, at, () => this.queueAt(queueUrl).send(JSON.parse(body)));
        return this.world.call(process, 'scheduler CreateSchedule', () => create() ?? {});
      }
      case 'SendEmail':
        return this.world.call(process, 'ses SendEmail', () => this.sendEmail(input.Message));
      default:
        return this.read(process, table, { name, input });
    }
  }

  private read(process: Process, { db }: SimulatedTable, command: Command): Promise<object> {
    const { name, input } = command;
    const given =
      name === 'TransactWrite' ? { name, input: { ClientRequestToken: `token ${this.tokens++}`, ...input } } : command;
    const pk = String(input.Key?.pk);
    const webhookId = pk.split('#')[1] ?? '';
    if (name === 'Get' && pk.startsWith('SLOTS#')) process.tokensAt.set(webhookId, this.world.now + process.skewMs);
    // All partitions of a log are read together, so each read has only its share of the risk.
    const risk = input.IndexName === BY_STATUS ? 1 / LOG_PARTITIONS : 1;
    const perform = (): object => {
      this.writer = process;
      if (process.name === 'fan-out' && pk.startsWith('HOOK#')) this.fannedOut++;
      const result = this.hotPartition.perform(given, (served) => db.execute(served));
      const isStay =
        isSuspicion(given) && process.name === 'deliver quick' && process.posting.has(this.urlOf(String(input.Key.sk)));
      if (isStay) this.onStay(String(input.Key.sk));
      return result;
    };
    return this.world.call(process, `dynamodb ${name}`, perform, TABLE_FAULTS, risk);
  }

  private enqueue(process: Process, { QueueUrl, Entries }: { QueueUrl: string; Entries: QueueEntry[] }): object {
    const queue = this.queueAt(QueueUrl);
    const refused = Entries.filter(({ MessageBody }) => process.name === 'fan-out' && this.isRefused(MessageBody));
    for (const entry of Entries) {
      if (refused.includes(entry)) continue;
      const message = JSON.parse(entry.MessageBody);
      if (process.name === 'fan-out') this.fannedOut += message.spread?.webhookIds.length ?? 1;
      if (consumerOf(QueueUrl).startsWith('deliver ')) this.onSend(message, process);
      queue.send(message, entry.DelaySeconds);
    }
    return { Failed: refused.map(({ Id }) => ({ Id, Code: 'InvalidMessageContents', SenderFault: true })) };
  }

  private queueAt(url: string): SimulatedQueue<object> {
    return this.queues.get(consumerOf(url)) as SimulatedQueue<object>;
  }

  /** Whether the queue rejects a message, which the fan-out sets aside. */
  private isRefused(body: string): boolean {
    const { spread, eventId = spread.eventId } = JSON.parse(body);
    return this.isRefusable(eventId) && !this.replayed.has(eventId);
  }

  private fanOut(batch: readonly DynamoDBRecord[], settle: Settle): void {
    this.consume('fan-out', FAN_OUT_LIMIT_MS, batch, (record) => record.dynamodb?.SequenceNumber, settle);
  }

  /** Whether the queues reject an event until it is replayed. */
  isRefusable(eventId: string): boolean {
    const sum = [...eventId].reduce((total, character) => total + character.charCodeAt(0), 0);
    return sum % REFUSED_EVERY === 0;
  }

  /** Books all slots of a webhook with a rate limit, as if it had thousands of messages. */
  fillQueue(webhookId: string): void {
    const { maxPerSecond } = [...this.db.items()].find(({ id }) => id === webhookId) ?? {};
    if (maxPerSecond === undefined) return;
    this.filled.add(webhookId);
    const { now } = this.world;
    const Item = { ...itemKey.slots(webhookId), maxPerSecond, usedUntil: now, bookedUntil: now + MAX_WAIT_MS };
    this.writer = undefined; // no process does this
    this.db.execute({ name: 'Put', input: { TableName: 'table', Item } });
  }

  /** Stores an event that was set aside. After a while an operator fixes the cause and replays it. */
  private keep(record: DynamoDBRecord): void {
    const id = record.dynamodb?.Keys?.sk?.S ?? '';
    if (this.setAside.has(id)) return;
    this.setAside.add(id);
    this.world.after(REPLAY_AFTER_MS, () => {
      this.replayed.add(id);
      this.stream.append(record);
    });
  }

  private shardOf({ sk }: Item): SimulatedStream<DynamoDBRecord> {
    const shard = SHARDS[String(sk).charCodeAt(String(sk).length - 1) % SHARDS.length] ?? '';
    return this.shards.get(shard) as SimulatedStream<DynamoDBRecord>;
  }

  /** Runs one invocation for a batch of changes, which is retried as a whole. */
  private count(shardId: string, batch: readonly DynamoDBRecord[], settle: Settle): void {
    const work = async (handle: Handler): Promise<void> =>
      settle(
        await handle({ Records: batch, shardId } as never, NO_CONTEXT).then(
          () => new Set<number>(),
          () => 'all' as const,
        ),
      );
    this.invoke('stats', 'stats', STATS_LIMIT_MS, work, () => settle('all'));
  }

  private consumeMessages(fn: string, batch: readonly object[], settle: Settle): void {
    const records = batch.map((message, i) => queueRecord(String(i), JSON.stringify(message)));
    if (fn.startsWith('deliver ')) for (const message of batch) this.onReceive(message as QueueMessage);
    this.consume(fn, QUEUE_LIMIT_MS, records, ({ messageId }) => messageId, settle);
  }

  /** Runs one invocation for a batch. Failed records are retried, or all records if the process is killed. */
  private consume<Record>(
    fn: string,
    limitMs: number,
    Records: readonly Record[],
    idOf: (record: Record) => string | undefined,
    settle: Settle,
  ): void {
    const work = async (handle: Handler, process: Process): Promise<void> => {
      process.records = Records;
      const { batchItemFailures } = (await handle({ Records } as never, NO_CONTEXT)) as SQSBatchResponse;
      const failed = batchItemFailures.map(({ itemIdentifier }) =>
        Records.findIndex((record) => idOf(record) === itemIdentifier),
      );
      settle(new Set(failed));
    };
    this.invoke(fn, fn, limitMs, work, () => settle('all'));
  }

  private sendEmail({ Subject, Body }: { Subject: { Data: string }; Body: { Text: { Data: string } } }): object {
    const text = Body.Text.Data;
    const [, state] = /^Webhook (\w+): /.exec(Subject.Data) ?? [];
    const [, webhook] = /^Webhook: +(whk_\w+)/m.exec(text) ?? [];
    const lines = text.matchAll(/^Webhook (failing|overloaded|disabled): [\s\S]*?\/webhooks\/(whk_\w+)/gm); // of a summary
    for (const [, what, webhookId = ''] of [...lines, ...(state ? [['', state, webhook]] : [])])
      this.emails[what as keyof typeof this.emails].push(webhookId);
    return {};
  }

  private async post(process: Process, fn: string, { url, headers, body }: Post, watch: Watch): Promise<TimedOutcome> {
    const eventId = headers['X-Service-Event-Id'] ?? '';
    const attempt = Number(headers['X-Service-Attempt']);
    const runs = process.records.map((record) => {
      const message: QueueMessage = JSON.parse((record as { body: string }).body);
      return isDelivery(message) && message.eventId === eventId && message.attempt === attempt ? message.run : -1;
    });
    const behaviour = await this.world.call(
      process,
      'POST',
      () => {
        this.onPost({
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
        });
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
    if (fn === 'deliver quick' && durationMs > SUSPECT_AFTER_MS) this.onLongAttempt(url);
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
}

interface QueueEntry {
  Id: string;
  MessageBody: string;
  DelaySeconds?: number;
}

const NO_CONTEXT = {} as Context;

/** Whether a command sends the next messages of a webhook to the slow lane because of an overdue attempt. */
const isSuspicion = ({ name, input }: Command): boolean =>
  name === 'Update' &&
  String(input.Key.pk).startsWith('HOOKS#') &&
  String(input.UpdateExpression).includes('#slowUntil') &&
  !String(input.UpdateExpression).includes('#quickSince');

// A transaction contains a token and a conditional write contains an id, so a retry of the SDK has no second effect. Reads can be
// repeated freely.
const TABLE_FAULTS = ['refused', 'throttled', 'lost', 'repeated', 'killed before', 'killed after', 'late'] as const;

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
