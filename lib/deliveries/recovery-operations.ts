import * as v from 'valibot';
import { EVENT_TYPES, type EventType } from '../events/types.ts';
import { KIB, operationsOf } from '../http/operation.ts';
import { uniqueList } from '../lists.ts';
import { optional } from '../optional.ts';
import { described, integer, oneOf, timestampInput, wholeNumber } from '../schema.ts';
import { webhookParameter } from '../webhooks/webhook.ts';
import { MAX_PER_SECOND } from './rate-limit.ts';
import { RecoveryResource } from './recovery-record.ts';
import { DEFAULT_PER_SECOND } from './recovery-window.ts';
import { recoveryRoutes } from './routes.ts';

const shared = {
  parameters: { id: webhookParameter },
  maxBodyBytes: 64 * KIB,
} as const;

const since = described(
  timestampInput,
  'Deliveries of events at this time or later. The default window starts at the first failed attempt or pause since the last success, and covers everything if there is none.',
);
const until = described(timestampInput, 'Only deliveries of events before this time. The default is now.');
const TYPES_MEANING = 'Only deliveries of events of these types. The default is all types.';

const TYPE = `(${EVENT_TYPES.join('|').replaceAll('.', '\\.')})`;
const TYPES = new RegExp(`^${TYPE}(,${TYPE})*$`);
const typesText = v.pipe(
  v.custom<string>(
    (text) => typeof text === 'string' && TYPES.test(text),
    `must be one or more of ${EVENT_TYPES.join(', ')}, separated by commas`,
  ),
  v.transform((text) => text.split(',') as EventType[]),
  v.metadata({ jsonSchema: { type: 'string', pattern: TYPES.source } }),
);

/** A window that ends before it starts is a mistake. */
export const isReversed = ({ since = 0, until }: { since?: number | undefined; until?: number | undefined }): boolean =>
  until !== undefined && until < since;
export const REVERSED = { field: 'until', detail: 'must not be before since' } as const;

const Recover = v.pipe(
  v.strictObject({
    since: optional(since),
    until: optional(until),
    types: optional(described(uniqueList(oneOf(EVENT_TYPES), 1, EVENT_TYPES.length), TYPES_MEANING)),
    per_second: optional(
      described(
        integer(1, MAX_PER_SECOND),
        `Deliveries per second. The default is ${DEFAULT_PER_SECOND}. A lower \`max_per_second\` of the webhook takes precedence.`,
      ),
    ),
    enable: optional(
      described(v.boolean('must be true or false'), '`true` enables the webhook first, if it is disabled.'),
    ),
  }),
  v.forward(
    v.partialCheck([['since'], ['until']], (given) => !isReversed(given), REVERSED.detail),
    [REVERSED.field],
  ),
);

const count = described(
  wholeNumber(),
  'The number of undelivered deliveries in the window. It is a lower bound above 10,000, or if more deliveries of one status are undelivered in that time. Deliveries that are `pending` before any attempt are not included. After 24 hours, you can redeliver each of them.',
);

export const recoveryOperations = operationsOf(recoveryRoutes, {
  getRecovery: {
    ...shared,
    summary: 'Count the deliveries that a recovery would redeliver, and get the last recovery',
    query: {
      since: v.optional(since),
      until: v.optional(until),
      types: v.optional(described(typesText, `${TYPES_MEANING} Separate them by commas.`)),
    },
    responses: {
      200: v.object({
        count,
        recovery: described(
          v.nullable(RecoveryResource),
          'The current or last recovery, also if it has another window. `null` if there was none in the last 30 days.',
        ),
      }),
    },
  },
  recover: {
    ...shared,
    summary: 'Recover failed, canceled and skipped deliveries, and optionally enable the webhook',
    body: Recover,
    responses: {
      202: v.object({ recovery_id: described(v.string(), 'Identifies the recovery.'), count }),
    },
    problems: ['conflict'],
    idempotencyKey: true,
  },
  stopRecovery: {
    ...shared,
    summary: 'Stop the recovery that is running, if there is one',
    responses: { 204: null },
  },
});
