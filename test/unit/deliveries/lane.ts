import type { Context, SQSBatchResponse } from 'aws-lambda';
import { expect } from 'vitest';
import { create } from '../../../functions/deliver.ts';
import { backendOf } from '../../../lib/aws/backend.ts';
import { put, update } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import type { Post, TimedOutcome, Watch } from '../../../lib/deliveries/attempt.ts';
import type { Verdict } from '../../../lib/deliveries/decide.ts';
import type { Lane } from '../../../lib/deliveries/lanes.ts';
import { deliveryLog } from '../../../lib/deliveries/log-store.ts';
import type { QueueMessage } from '../../../lib/deliveries/messages.ts';
import type { RateState } from '../../../lib/deliveries/rate-limit.ts';
import { newRecovery, type RecoveryRecord } from '../../../lib/deliveries/recovery-record.ts';
import { recoveries } from '../../../lib/deliveries/recovery-store.ts';
import { deliveries } from '../../../lib/deliveries/store.ts';
import { LANE_QUEUES } from '../../../lib/deployment.ts';
import type { StoredEvent } from '../../../lib/events/event.ts';
import { putEvents } from '../../../lib/events/store.ts';
import { derivedFrom } from '../../../lib/ids.ts';
import { putFirstKey } from '../../../lib/keys/store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { newKey, newProject } from '../../memory/contracts/builders.ts';
import { RecordedDynamoDb } from '../../support/memory-table.ts';
import { type Command, isRead, runtimeWith, VARIABLES } from '../../support/runtime.ts';
import { attempt, event, message, now, space, webhook } from './builders.ts';

interface Sent {
  lane: string;
  delaySeconds: number | undefined;
  group: string;
  body: QueueMessage;
}

type Answer = (post: Post, watch: Watch) => Promise<TimedOutcome>;

export const responds =
  (statusCode: number): Answer =>
  async () => {
    const error = statusCode < 300 ? null : 'status_not_2xx';
    return { statusCode, error, durationMs: 10, waitedMs: 10, excerpt: null };
  };

/** An attempt that takes a time and succeeds, unless the function ends it. */
export const lasts =
  (ms: number): Answer =>
  async (_, { tick, signal }) => {
    for (let waitedMs = 100; waitedMs <= ms; waitedMs += 100) {
      tick(waitedMs);
      await new Promise(setImmediate);
      await new Promise(setImmediate); // a call to AWS that the tick makes
      signal.throwIfAborted();
    }
    return { statusCode: 200, error: null, durationMs: ms, waitedMs: ms, excerpt: null };
  };

const LANE_OF = Object.fromEntries(Object.entries(LANE_QUEUES).map(([lane, name]) => [VARIABLES[name], lane]));

/**
 * The deployed function of a lane, on a table in memory with the webhook `whk_1` and the event `evt_1`. Other events have ids
 * from `evt_2`. The endpoint responds with 200. By the clock, which starts at `now`, only attempts take time. A run ends
 * after its last effect.
 */
export async function laneFunction(of: Partial<WebhookRecord> = {}, { lane = 'quick' }: { lane?: Lane } = {}) {
  const memory = new RecordedDynamoDb();
  const commands: Command[] = [];
  const posts: Post[] = [];
  const lines: { level: string; event: string; fields: Record<string, unknown> }[] = [];
  const line = (level: string) => (event: string, fields: Record<string, unknown>) => {
    lines.push({ level, event, fields });
  };
  /** The effects under way. */
  const effects = new Set<Command>();
  const changeable = {
    answer: responds(200),
    time: now,
    /** Runs before a command has an effect. Throws if it must fail, or returns another response. */
    fault: (_command: Command): unknown => undefined,
  };
  const runtime = runtimeWith(
    async (command) => {
      if (!isRead(command.name)) effects.add(command);
      try {
        const response = await changeable.fault(command);
        if (response) return response;
        commands.push(command);
        await new Promise(setImmediate);
        const isOfTable = !['SendMessageBatch', 'CreateSchedule', 'SendEmail'].includes(command.name);
        return isOfTable ? memory.execute(command) : {};
      } finally {
        effects.delete(command);
      }
    },
    {
      variables: { ...VARIABLES, LANE: lane },
      clock: () => changeable.time,
      log: { info: line('info'), warn: line('warn'), error: line('error') },
    },
  );
  const { table } = backendOf(runtimeWith(async (command) => memory.execute(command)));
  const log = deliveryLog(table);
  const project = newProject({ id: space.projectId });
  await projects(table).create(project, putFirstKey(newKey({ projectId: project.id })));
  const add = async (record: WebhookRecord) => void (await webhooks(table).create(record, []));
  const publish = (given: StoredEvent) => table.write(putEvents([given]));
  const first = webhook({ quickSince: now - 1, ...of });
  await add(first);
  await publish(event());
  const handle = create(runtime, () => async (post, watch) => {
    posts.push(post);
    const outcome = await changeable.answer(post, watch as Watch);
    changeable.time += outcome.durationMs;
    return outcome;
  });
  const inputsOf = (name: string) => commands.filter((command) => command.name === name).map(({ input }) => input);

  return Object.assign(changeable, {
    ...{ table, posts, lines, add, publish },
    /** Runs the function with a batch, and returns the indexes of the messages that must be received again. */
    async run(...batch: (QueueMessage | string)[]): Promise<number[]> {
      const Records = batch.map((each, i) => ({
        messageId: String(i),
        body: typeof each === 'string' ? each : JSON.stringify(each),
        attributes: { ApproximateReceiveCount: '1' },
      }));
      const { batchItemFailures } = (await handle({ Records } as never, {} as Context)) as SQSBatchResponse;
      expect([...effects], 'effects for which the function does not wait').toEqual([]);
      return batchItemFailures.map(({ itemIdentifier }) => Number(itemIdentifier));
    },
    /** The messages that the function sent to queues. */
    sent: (): Sent[] =>
      inputsOf('SendMessageBatch').flatMap(({ QueueUrl, Entries }) =>
        Entries.flatMap(
          ({ DelaySeconds: delaySeconds, MessageBody, MessageGroupId: group }: Record<string, string>) => {
            const lane = LANE_OF[QueueUrl]; // the queue of summaries is no lane
            return lane === undefined ? [] : { lane, delaySeconds, group, body: JSON.parse(MessageBody ?? '') };
          },
        ),
      ),
    scheduled: () => inputsOf('CreateSchedule'),
    emails: (): { subject: string; text: string }[] =>
      inputsOf('SendEmail').map(({ Message }) => ({ subject: Message.Subject.Data, text: Message.Body.Text.Data })),
    /** The emails that were reserved and not confirmed. */
    reserved: async () => (await table.get(itemKey.emails(space.projectId)))?.reserved,
    named: (name: string) => lines.filter((each) => each.event === name).map(({ fields }) => fields),
    /** The webhook as it is stored. */
    hook: (id = 'whk_1') => webhooks(table).get(space, id),
    change: (values: Partial<WebhookRecord>) => table.write([update(itemKey.webhook(space, 'whk_1'), { ...values })]),
    /** Stores the state of the rate limit. */
    book: (state: RateState) => table.write([put({ ...itemKey.slots('whk_1'), ...state })]),
    delivery: (eventId = 'evt_1') => log.get('whk_1', eventId),
    /** Starts a recovery of the webhook, and returns it. */
    async startRecovery(overrides: Partial<RecoveryRecord> = {}): Promise<RecoveryRecord> {
      const current = (await webhooks(table).get(space, 'whk_1')) ?? first;
      const recovery = { ...newRecovery(current, {}, now, derivedFrom('recovery')), ...overrides };
      expect(await recoveries(table).start(current, {}, recovery, [])).toBe(true);
      return recovery;
    },
    recovery: () => recoveries(table).get('whk_1'),
    log,
    /** Records an attempt of the delivery, as another run of its message. */
    record: (number: number, verdict: Verdict, { run = 0, eventId = 'evt_1' } = {}) =>
      deliveries(table).record(message({ run, eventId }), event({ id: eventId }), attempt({ number }), verdict),
  });
}
