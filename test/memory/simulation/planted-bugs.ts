import type { BatchDeps } from '../../../lib/deliveries/batch.ts';
import type { DeliveryContext } from '../../../lib/deliveries/deliver.ts';
import { SUSPECT_AFTER_MS } from '../../../lib/deliveries/lanes.ts';
import { attemptName, type DeliveryMessage } from '../../../lib/deliveries/messages.ts';
import { MAX_QUEUE_DELAY_SECONDS } from '../../../lib/deliveries/queue-retry.ts';
import { RETRY_DELAYS_SECONDS } from '../../../lib/deliveries/retry-schedule.ts';
import { NotYetError, UnavailableError } from '../../../lib/errors.ts';
import { authenticate } from '../../../lib/keys/authenticate.ts';
import type { KeyRecord } from '../../../lib/keys/key.ts';
import type { Command } from './requests-of.ts';
import type { PlantedBug } from './service.ts';

/** Changes every write that matches a condition on its text. */
const writes =
  (isMeant: (text: string) => boolean, change: (write: Record<string, unknown>) => Record<string, unknown>) =>
  (command: Command): Command => {
    const changed = (write: Record<string, unknown>) => (isMeant(textOf(write)) ? change(write) : write);
    if (command.name === 'Put' || command.name === 'Update') return { ...command, input: changed(command.input) };
    if (command.name !== 'TransactWrite') return command;
    const TransactItems = command.input.TransactItems.map((item: Record<string, Record<string, unknown>>) =>
      Object.fromEntries(Object.entries(item).map(([kind, write]) => [kind, changed(write)])),
    );
    return { ...command, input: { ...command.input, TransactItems } };
  };
const textOf = ({ Key, Item, UpdateExpression, ConditionExpression }: Record<string, unknown>): string =>
  [(Key as { pk?: string })?.pk ?? (Item as { pk?: string })?.pk, UpdateExpression, ConditionExpression].join(' ');
const unconditional = (write: Record<string, unknown>) => {
  const { ConditionExpression: _, ReturnValuesOnConditionCheckFailure: __, ...rest } = write;
  return rest;
};
const withoutWhole = (isMeant: (text: string) => boolean) => ({
  command: (command: Command): Command => {
    if (command.name !== 'TransactWrite') return command;
    const TransactItems = command.input.TransactItems.filter((item: Record<string, Record<string, unknown>>) =>
      Object.values(item).every((write) => !isMeant(textOf(write))),
    );
    return { ...command, input: { ...command.input, TransactItems } };
  },
});
const has =
  (...parts: string[]) =>
  (text: string): boolean =>
    parts.every((part) => text.includes(part));
const unended = (record: KeyRecord | undefined, members: readonly (keyof KeyRecord)[]): KeyRecord | undefined =>
  record && { ...record, ...Object.fromEntries(members.map((name) => [name, undefined])) };
const delivery = has('HOOK#');
/** The first attempt that a schedule sends, because the delay before it exceeds the maximum of a queue. */
const FIRST_SCHEDULED = RETRY_DELAYS_SECONDS.findIndex((seconds) => seconds > MAX_QUEUE_DELAY_SECONDS) + 2;
const deliver = (change: (deps: BatchDeps) => Partial<BatchDeps>): PlantedBug => ({
  deliver: (deps) => ({ ...deps, ...change(deps) }),
});

/** Changes the data of every delivery that was read. */
const contexts = (change: (context: DeliveryContext, message: DeliveryMessage) => DeliveryContext): PlantedBug =>
  deliver(({ loadContexts }) => ({
    loadContexts: async (messages) =>
      (await loadContexts(messages)).map((context, i) =>
        context instanceof UnavailableError ? context : change(context, messages[i] as DeliveryMessage),
      ),
  }));

/** Bugs that the simulation must find. Each one existed before, or needs only a small mistake. */
export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  'a lost response counts as the write of another run': {
    error: (error) => {
      const { Item, CancellationReasons } = error as { Item?: object; CancellationReasons?: object[] };
      const withoutItem = (each: object) => ({ ...each, Item: undefined });
      if (Item) return Object.assign(error as Error, { Item: undefined });
      if (CancellationReasons)
        Object.assign(error as Error, { CancellationReasons: CancellationReasons.map(withoutItem) });
      return error;
    },
  },
  'a message that another run is processing is acknowledged': { isDone: (error) => error instanceof NotYetError },
  'a message that its own copy is processing is acknowledged': (() => {
    const received = new WeakSet<object>();
    return {
      isDone: (error, message) => {
        const isCopy = received.has(message);
        received.add(message);
        return isCopy && error instanceof NotYetError;
      },
    };
  })(),
  'the retry is not recorded as pending': {
    command: writes(has('HOOK#', ':retryPending'), (write) => ({
      ...write,
      UpdateExpression: String(write.UpdateExpression).replace(
        '#retryPending = :retryPending',
        '#retryPending = #retryPending',
      ),
    })),
  },
  'the flag is cleared before the retry is queued': deliver(({ retry, markRetried }) => ({
    retry: async (message, due) => {
      await markRetried({ ...message, attempt: message.attempt - 1 });
      await retry(message, due);
    },
  })),
  'a failure to queue the retry is ignored': deliver(({ retry }) => ({
    retry: (message, due) => retry(message, due).catch(() => {}),
  })),
  'an attempt is recorded without its condition': { command: writes(delivery, unconditional) },
  'the sixth failure does not disable the webhook': withoutWhole(has('HOOKS#', 'disabledBy')),
  'a webhook is disabled twice': { command: writes(has('HOOKS#', ':disabledBy'), unconditional) },
  'the email is sent before it is claimed': deliver(({ disabledEmail }) => ({
    disabledEmail: { ...disabledEmail, claim: async () => 'claimed' },
  })),
  'the email is not recorded as sent': deliver(({ disabledEmail }) => ({
    disabledEmail: { ...disabledEmail, markSent: async () => {} },
  })),
  'a failed email is not sent again': deliver(({ disabledEmail }) => ({
    disabledEmail: { ...disabledEmail, send: (failing) => disabledEmail.send(failing).catch(() => {}) },
  })),
  'the warning is sent before it is claimed': deliver(({ warningEmail }) => ({
    warningEmail: { ...warningEmail, claim: async () => 'claimed' },
  })),
  'a failed warning is not sent again': deliver(({ warningEmail }) => ({
    warningEmail: { ...warningEmail, send: (failing) => warningEmail.send(failing).catch(() => {}) },
  })),
  'a recovery stops after its first page': deliver(({ recoverPage }) => ({
    recoverPage: async (message) => {
      if (!message.recover.from) await recoverPage(message);
    },
  })),
  'a failed fan-out is acknowledged': {
    fanOut: (deps) => ({ ...deps, enqueue: (lane, messages) => deps.enqueue(lane, messages).catch(() => {}) }),
  },
  'an event that always fails is retried without end': { isOutage: () => true },
  'events are set aside during an outage': { isOutage: () => false },
  'a disabled webhook is skipped without a record': { fanOut: (deps) => ({ ...deps, skip: async () => {} }) },
  'a failed delivery is acknowledged': deliver(({ record }) => ({
    record: (...args) => record(...args).catch(() => true),
  })),
  'schedules of different attempts share a name': deliver(({ retry }) => ({
    retry: (message, due) => retry({ ...message, run: 0 }, due),
  })),
  'a retry that is half a minute late is dropped': deliver(({ clock, loadContexts }) => ({
    loadContexts: async (messages) =>
      (await loadContexts(messages)).map((context, i) => {
        if (context instanceof UnavailableError || messages[i]?.attempt === 1) return context;
        const lateMs = clock() - (context.delivery?.nextAttemptAt ?? clock());
        return lateMs > 30_000 && lateMs < 70_000 ? { ...context, webhook: undefined } : context;
      }),
  })),
  'a second message of a schedule repeats its attempt': (() => {
    const first = new Map<string, { message: DeliveryMessage; at: number }>();
    return deliver(({ clock, loadContexts }) => ({
      loadContexts: async (messages) =>
        (await loadContexts(messages)).map((context, i) => {
          const message = messages[i] as DeliveryMessage;
          const name = attemptName(message);
          const found = first.get(name);
          if (found?.message !== message) first.set(name, { message, at: clock() });
          const isSecond = found && found.message !== message && Math.abs(clock() - found.at) < 10_000;
          if (context instanceof UnavailableError || !isSecond || message.attempt < FIRST_SCHEDULED) return context;
          return { ...context, delivery: undefined };
        }),
    }));
  })(),
  'a retry comes too early': deliver(({ retry }) => ({
    retry: (message, { delaySeconds, dueAt }) =>
      retry(message, { delaySeconds: Math.ceil(delaySeconds / 2), dueAt: dueAt - delaySeconds * 500 }),
  })),
  'a disabled webhook receives deliveries': contexts((context) => ({
    ...context,
    webhook: context.webhook && { ...context.webhook, status: 'enabled' as const },
  })),
  'webhooks are cached permanently': (() => {
    const known = new Map<string, DeliveryContext['webhook']>();
    return contexts((context, { webhookId }) => {
      if (context.webhook && !known.has(webhookId)) known.set(webhookId, context.webhook);
      return { ...context, webhook: known.get(webhookId) };
    });
  })(),
  'an attempt is repeated after it was recorded': contexts((context) => ({ ...context, delivery: undefined })),
  'expired secrets still sign': contexts((context) => ({
    ...context,
    webhook: context.webhook && {
      ...context.webhook,
      previousSecrets: context.webhook.previousSecrets?.map((each) => ({ ...each, until: Number.MAX_SAFE_INTEGER })),
    },
  })),
  'document patterns are ignored for disabled webhooks': {
    fanOut: (deps) => ({
      ...deps,
      webhooks: async (space) =>
        (await deps.webhooks(space)).map((webhook) =>
          webhook.status === 'disabled' ? { ...webhook, documents: [] } : webhook,
        ),
    }),
  },
  'a throttled partition fails its whole batch': deliver(({ loadContexts }) => ({
    loadContexts: async (messages) => {
      const loaded = await loadContexts(messages);
      const unread = loaded.find((context) => context instanceof UnavailableError);
      if (unread) throw unread;
      return loaded;
    },
  })),
  'an idempotency key takes no lock': { command: writes(has('IDEMPOTENCY#'), unconditional) },
  'a repeated batch creates new events': {
    handlers: (handlers) => ({
      ...handlers,
      ...('publishEvents' in handlers && {
        publishEvents: (request: object, idempotencyWrites: unknown) =>
          (handlers.publishEvents as (...args: unknown[]) => unknown)(request, idempotencyWrites, undefined),
      }),
    }),
  },
  'the response is not stored with the event': withoutWhole(has('IDEMPOTENCY#', ':response')),
  'a redelivery that was not queued succeeds': {
    enqueue: (enqueue) => (messages, delaySeconds) => enqueue(messages, delaySeconds).catch(() => {}),
  },
  'a repeated batch is counted twice': { command: writes(has('FIGURES#'), unconditional) },
  'changes after a counted batch are skipped': {
    command: writes(has('FIGURES#'), (write) => {
      const position = Object.keys(write.ExpressionAttributeValues as object).find((name) =>
        name.startsWith(':position_'),
      );
      const own = (write.ExpressionAttributeValues as Record<string, unknown>)[position ?? ''];
      return {
        ...write,
        ExpressionAttributeValues: {
          ...(write.ExpressionAttributeValues as object),
          ...(position && { [position]: `9${String(own).slice(1)}` }),
        },
      };
    }),
  },
  'only the last change of a batch is counted': {
    stats: (tallies) => tallies.map((each) => ({ ...each, entries: each.entries.slice(-1) })),
  },
  'a connection is lost without an event': {
    command: (command) =>
      JSON.stringify(command.input).includes('CONNECTION#') ? withoutWhole(has('EVENT#')).command(command) : command,
  },
  'a renewed connection is not checked again': {
    connections: (deps) => ({
      ...deps,
      scheduleCheck: async (message, delaySeconds) => {
        const isOpen = (await deps.connections.get(message, message.connectionId)) !== undefined;
        if (!isOpen) await deps.scheduleCheck(message, delaySeconds);
      },
    }),
  },
  'a connection is stored before its check is queued': {
    connections: (deps) => {
      const owed: (() => Promise<void>)[] = [];
      return {
        ...deps,
        scheduleCheck: async (...args) => void owed.push(() => deps.scheduleCheck(...args)),
        connections: {
          ...deps.connections,
          put: async (...args) => {
            const isDone = await deps.connections.put(...args);
            for (const send of owed.splice(0)) await send();
            return isDone;
          },
        },
      };
    },
  },
  'a lease renewed during its check is not checked again': {
    connections: (deps) => ({
      ...deps,
      connections: {
        ...deps.connections,
        remove: async (...args) => {
          await deps.connections.remove(...args);
          return true;
        },
      },
    }),
  },
  'a lease renewed concurrently is ended': { command: writes(has('CONNECTION#'), unconditional) },
  'a sync cycle completes twice': { command: writes(has('SYNC#', ':completedAt'), unconditional) },
  'a sync omits deleted documents': {
    handlers: (handlers) => ({
      ...handlers,
      ...('sync' in handlers && {
        sync: async (request: object) => {
          const response = (await (handlers.sync as (request: object) => Promise<object>)(request)) as {
            body?: { changes: { deleted: boolean }[] };
          };
          const { body } = response;
          return body
            ? { ...response, body: { ...body, changes: body.changes.filter((each) => !each.deleted) } }
            : response;
        },
      }),
    }),
  },
  'the list of revisions is not updated': withoutWhole((text) => text.startsWith('REVISIONS#')),
  'a write overwrites concurrent writes': { command: writes(has('DOCS#'), unconditional) },
  'a deleted webhook still counts': withoutWhole((text) => text.startsWith('COUNT#') && !text.includes('attribute')),
  'a key is rotated twice': { command: writes(has('KEY#', ':replacedBy'), unconditional) },
  'a revoked key still works': {
    authenticate: (credential, { keys, clock }) =>
      authenticate(credential, {
        keys: { get: async (id) => unended(await keys.get(id), ['revokedAt']) },
        clock,
      }),
  },
  'a revoked token still works': {
    authenticate: (credential, { keys, clock }) =>
      authenticate(credential, {
        keys: { get: async (id) => unended(await keys.get(id), ['revokedTokens']) },
        clock,
      }),
  },
  'reads are eventually consistent': {
    command: ({ name, input }) => {
      if (name !== 'BatchGet') return { name, input: { ...input, ConsistentRead: false } };
      const RequestItems = Object.entries(input.RequestItems).map(([table, request]) => [
        table,
        { ...(request as object), ConsistentRead: false },
      ]);
      return { name, input: { ...input, RequestItems: Object.fromEntries(RequestItems) } };
    },
  },
  'every overdue attempt stays in the quick lane': deliver(({ suspect }) => ({
    suspect: async (...args) => (await suspect(...args)) || true,
  })),
  'an overdue attempt never leaves the quick lane': deliver(({ post }) => ({
    post: (request, { tick, signal }) => post(request, { tick: (ms) => ms === SUSPECT_AFTER_MS || tick(ms), signal }),
  })),
  'an attempt that leaves the quick lane is dropped': deliver(({ defer }) => ({
    defer: async (message, lane) => {
      if (message.attempt !== 1 || lane !== 'slow') await defer(message, lane);
    },
  })),
  'a delayed delivery is dropped': deliver(() => ({ delay: async () => {} })),
  'concurrent batches use the same tokens': { command: writes(has('SLOTS#'), unconditional) },
  'a message that waited needs no token': deliver(({ takeSlots }) => ({
    takeSlots: async (message, maxPerSecond, requests, nowMs) => {
      const slots = await takeSlots(message, maxPerSecond, requests, nowMs);
      return slots.map((slot, i) => (requests[i]?.slot ? null : slot));
    },
  })),
  'a delay counts as an attempt': deliver(({ delay }) => ({
    delay: (message, seconds) => delay({ ...message, attempt: Math.min(6, message.attempt + 1) }, seconds),
  })),
  'a change is not in the audit log': withoutWhole((text) => text.startsWith('AUDIT#')),
  'a rotated key never expires': {
    authenticate: (credential, { keys, clock }) =>
      authenticate(credential, {
        keys: { get: async (id) => unended(await keys.get(id), ['expiresAt']) },
        clock,
      }),
  },
  'a rotated key expires immediately': {
    command: writes(has('KEY#', ':replacedBy'), (write) => ({
      ...write,
      ExpressionAttributeValues: { ...(write.ExpressionAttributeValues as object), ':expiresAt': 0 },
    })),
  },
  'the last admin key can be revoked': {
    command: (command) =>
      command.name === 'TransactWrite'
        ? {
            ...command,
            input: {
              ...command.input,
              TransactItems: command.input.TransactItems.filter((item: object) => !('ConditionCheck' in item)),
            },
          }
        : command,
  },
};
