import type { Command } from '../../support/runtime.ts';
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
const delivery = has('HOOK#');

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
  'the retry is not recorded as pending': {
    command: writes(has('HOOK#', ':retryPending'), (write) => ({
      ...write,
      UpdateExpression: String(write.UpdateExpression).replace(
        '#retryPending = :retryPending',
        '#retryPending = #retryPending',
      ),
    })),
  },
  'an attempt is recorded without its condition': { command: writes(delivery, unconditional) },
  'a webhook is disabled twice': { command: writes(has('HOOKS#', ':disabledBy'), unconditional) },
  'an idempotency key takes no lock': { command: writes(has('IDEMPOTENCY#'), unconditional) },
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
  'a connection is lost without an event': {
    command: (command) =>
      JSON.stringify(command.input).includes('CONNECTION#') ? withoutWhole(has('EVENT#')).command(command) : command,
  },
  'a lease renewed concurrently is ended': { command: writes(has('CONNECTION#'), unconditional) },
  'a sync cycle completes twice': { command: writes(has('SYNC#', ':completedAt'), unconditional) },
  'a write overwrites concurrent writes': { command: writes(has('DOCS#'), unconditional) },
  'a key is rotated twice': { command: writes(has('KEY#', ':replacedBy'), unconditional) },
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
  'concurrent batches use the same tokens': { command: writes(has('SLOTS#'), unconditional) },
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
  'the sixth failure does not disable the webhook': withoutWhole(has('HOOKS#', 'disabledBy')),
  'the response is not stored with the event': withoutWhole(has('IDEMPOTENCY#', ':response')),
  'the list of revisions is not updated': withoutWhole((text) => text.startsWith('REVISIONS#')),
  'a deleted webhook still counts': withoutWhole((text) => text.startsWith('COUNT#') && !text.includes('attribute')),
  'a change is not in the audit log': withoutWhole((text) => text.startsWith('AUDIT#')),
};
