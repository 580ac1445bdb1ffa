import { type DeliveryMessage, runKey } from '../../delivery/messages.ts';
import { all, any, exists, is, isAbsent, isAtMost, isPresent } from './conditions.ts';
import { emailClaims } from './email-claims.ts';
import { initially, update } from './expressions.ts';
import { itemKey } from './items.ts';
import type { Table } from './table.ts';

/** What the record of a webhook knows of an outage of its endpoint. */
export function outages(table: Table) {
  const keyOf = (message: DeliveryMessage) => itemKey.webhook(message, message.webhookId);
  const warning = emailClaims(table, { by: 'warnedBy', sentAt: 'warnedAt', until: 'warningUntil' }, (message) =>
    all(isPresent('failingSince'), any(isAbsent('warnedBy'), is('warnedBy', runKey(message)))),
  );

  return {
    /** Notes an attempt that failed at a time, unless one of this outage is noted. */
    async beginOutage(message: DeliveryMessage, atMs: number): Promise<void> {
      const values = { failingSince: atMs, undeliveredSince: initially(atMs) };
      await table.write([update(keyOf(message), values, all(exists, isAbsent('failingSince')))]);
    },

    /** Notes an attempt that succeeded at a time. What began later goes on, and so does what a disabled webhook misses. */
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

    warning,
  };
}
