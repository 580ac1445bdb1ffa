import { all, any, type Condition, is, isAbsent, isAtMost } from '../aws/conditions.ts';
import { update } from '../aws/expressions.ts';
import { type Item, itemKey } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import { type DeliveryMessage, runKey } from './messages.ts';
import type { Claim, EmailClaims } from './outage.ts';

/** The duration of a claim. It is longer than the timeout of a function and shorter than the visibility timeout of a message. */
export const CLAIM_MS = 60_000;

/** The members of a webhook for an email: its delivery, when it was sent, and the end of the current claim. */
interface Members {
  by: string;
  sentAt: string;
  until: string;
}

/*
 * An email about a webhook, in time:
 *
 *   ── claim ──► until ── markSent ──► sentAt
 *        ▲         │
 *        └─────────┘ release, or time
 */
export function emailClaims(
  table: Table,
  { by, sentAt, until }: Members,
  mayClaim: (message: DeliveryMessage) => Condition,
): EmailClaims {
  const keyOf = (message: DeliveryMessage) => itemKey.webhook(message, message.webhookId);
  const change = async (message: DeliveryMessage, values: Item): Promise<void> => {
    await table.write([update(keyOf(message), values, is(by, runKey(message)))]);
  };

  return {
    async claim(message: DeliveryMessage, nowMs: number): Promise<Claim> {
      const isFree = all(mayClaim(message), isAbsent(sentAt), any(isAbsent(until), isAtMost(until, nowMs)));
      const values = { [by]: runKey(message), [until]: nowMs + CLAIM_MS };
      const [rejected] = await table.write([update(keyOf(message), values, isFree)]);
      if (!rejected) return 'claimed';
      const { item } = rejected;
      return item?.[by] === runKey(message) && item[sentAt] === undefined ? 'busy' : 'sent';
    },
    release: (message) => change(message, { [until]: undefined }),
    markSent: (message, nowMs) => change(message, { [sentAt]: nowMs, [until]: undefined }),
  };
}
