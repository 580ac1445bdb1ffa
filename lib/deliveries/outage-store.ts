import { all, any, exists, is, isAbsent, isAtLeast, isAtMost, isPresent } from '../aws/conditions.ts';
import { initially, update } from '../aws/expressions.ts';
import { itemKey } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import type { Space } from '../space.ts';
import { emailClaims } from './email-claim-store.ts';
import type { DeliveryMessage } from './messages.ts';

/** Stores the state of outages and overloads in the record of the webhook. */
export function outages(table: Table) {
  const keyOf = (message: DeliveryMessage) => itemKey.webhook(message, message.webhookId);
  // Any delivery of the outage can take over a claim that ran out, because a redelivery can replace the run that made it.
  const warning = emailClaims(table, { by: 'warnedBy', sentAt: 'warnedAt', until: 'warningUntil' }, () =>
    isPresent('failingSince'),
  );
  const overload = emailClaims(
    table,
    { by: 'overloadedBy', sentAt: 'overloadedAt', until: 'overloadingUntil' },
    () => exists,
  );

  return {
    /** Stores the time of a failed attempt, unless the outage already has one. */
    async beginOutage(message: DeliveryMessage, atMs: number): Promise<void> {
      const values = { failingSince: atMs, undeliveredSince: initially(atMs) };
      await table.write([update(keyOf(message), values, all(exists, isAbsent('failingSince')))]);
    },

    /** Stores a successful attempt. An outage that started later continues, and so does that of a disabled webhook. */
    async endOutage(message: DeliveryMessage, atMs: number): Promise<void> {
      const forgotten = ['failingSince', 'undeliveredSince', 'disabledAt', 'warnedBy', 'warnedAt', 'warningUntil'];
      const isOver = all(
        is('status', 'enabled'),
        isAtMost('undeliveredSince', atMs),
        any(isAbsent('failingSince'), isAtMost('failingSince', atMs)),
        any(isAbsent('disabledAt'), isAtMost('disabledAt', atMs)),
      );
      const values = Object.fromEntries(forgotten.map((name) => [name, undefined]));
      await table.write([update(keyOf(message), values, isOver)]);
    },

    /** Moves the start of an outage back, so that the default window of a recovery contains deliveries that ended since then. */
    async extendOutage(space: Space, webhookId: string, sinceMs: number): Promise<void> {
      const isLater = any(isAbsent('undeliveredSince'), isAtLeast('undeliveredSince', sinceMs));
      const values = { undeliveredSince: sinceMs };
      await table.write([update(itemKey.webhook(space, webhookId), values, all(exists, isLater))]);
    },

    /** Stores an attempt that did not wait for the rate limit. An overload whose email was sent later continues. */
    async endOverload(message: DeliveryMessage, atMs: number): Promise<void> {
      const values = { overloadedBy: undefined, overloadedAt: undefined, overloadingUntil: undefined };
      await table.write([update(keyOf(message), values, isAtMost('overloadedAt', atMs))]);
    },

    warning,
    overload,
  };
}
