import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { settingsOf } from '../../../../infra/settings.ts';
import { operations } from '../../../../lib/api/operations.ts';
import { AUDIT_KEPT_MS } from '../../../../lib/audit/audit.ts';
import { LEASE_SECONDS } from '../../../../lib/client/engine/engine-types.ts';
import { MAX_DEPTH } from '../../../../lib/client/engine/json-values.ts';
import { MAX_OUTAGE_SECONDS } from '../../../../lib/client/token-keys.ts';
import { ATTEMPT_TIMEOUT_MS } from '../../../../lib/deliveries/attempt.ts';
import { BUDGET_WINDOW_MS } from '../../../../lib/deliveries/budget.ts';
import { NEXT_ADDRESS_MS } from '../../../../lib/deliveries/connect.ts';
import { EXCERPT_BYTES } from '../../../../lib/deliveries/excerpt.ts';
import { MAX_RECEIVED_BYTES } from '../../../../lib/deliveries/exchange.ts';
import {
  QUICK_AGAIN_AFTER_MS,
  QUICK_WITHIN_MS,
  SLOW_AFTER_MS,
  SLOW_FOR_MS,
  SUSPECT_AFTER_MS,
} from '../../../../lib/deliveries/lanes.ts';
import { BURST_MS, MAX_PER_SECOND, MAX_WAIT_MS } from '../../../../lib/deliveries/rate-limit.ts';
import { RECOVERY_DELAY_SECONDS } from '../../../../lib/deliveries/recovery-record.ts';
import { DEFAULT_PER_SECOND, STUCK_AFTER_MS } from '../../../../lib/deliveries/recovery-window.ts';
import {
  MAX_ATTEMPTS,
  MAX_QUEUE_DELAY_SECONDS,
  RETRY_DELAYS_SECONDS,
} from '../../../../lib/deliveries/retry-schedule.ts';
import { MAX_LEASE_SECONDS } from '../../../../lib/documents/connections.ts';
import { CYCLE_MS } from '../../../../lib/documents/cycle.ts';
import { MAX_DOCUMENT_BYTES, MAX_FIELDS } from '../../../../lib/documents/document.ts';
import { CONNECTION_KEPT_MS } from '../../../../lib/documents/engine-store.ts';
import { MAX_CHANGES } from '../../../../lib/documents/engines.ts';
import { MAX_KEY_LENGTH, MAX_SEGMENTS } from '../../../../lib/documents/patterns.ts';
import { MAX_KNOWN, MAX_PUSHES } from '../../../../lib/documents/sync.ts';
import { EMAIL_WINDOW_MS, MAX_EMAILS } from '../../../../lib/emails/email-budget.ts';
import { EVENT_RETENTION_MS, MAX_AHEAD_MS, MAX_BATCH, MAX_EVENT_BYTES } from '../../../../lib/events/event.ts';
import { DEFAULT_PAGE, MAX_BODY_BYTES } from '../../../../lib/http/operation.ts';
import { REPLAY_MS, RUNNING_MS } from '../../../../lib/http/replay.ts';
import { MAX_JSON_DEPTH } from '../../../../lib/json.ts';
import { MAX_REVOKED_TOKENS } from '../../../../lib/keys/revoked-tokens.ts';
import { MAX_TOKEN_BYTES } from '../../../../lib/keys/signed-claims.ts';
import { SECRET_GRACE_SECONDS } from '../../../../lib/webhooks/signing.ts';
import { MAX_WEBHOOKS } from '../../../../lib/webhooks/webhook.ts';

const { deliveriesPerSecond } = settingsOf({}).throttles;
const counted = (count: number, unit: string) => `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
const seconds = (ms: number) => counted(ms / 1000, 'second');
const minutes = (ms: number) => counted(ms / 60_000, 'minute');
const hours = (ms: number) => counted(ms / 3_600_000, 'hour');
const days = (ms: number) => counted(ms / 86_400_000, 'day');
const kib = (bytes: number) => `${bytes / 1024} KiB`;

const [first, second, third, fourth, fifth] = RETRY_DELAYS_SECONDS;
const retained = days(EVENT_RETENTION_MS);
const timeout = seconds(ATTEMPT_TIMEOUT_MS);
const replayed = hours(REPLAY_MS);
const ofKey = [counted(MAX_KEY_LENGTH, 'character'), counted(MAX_SEGMENTS, 'segment')];

/** The figures with a unit in each guide: those of constants, and those that other tests check or that AWS sets. */
const FIGURES: Readonly<Record<string, [ofCode: readonly string[], others?: readonly string[]]>> = {
  concepts: [[retained]],
  'connect-engine': [
    [
      ...[kib(MAX_EVENT_BYTES), counted(MAX_DEPTH, 'level')],
      ...[minutes(LEASE_SECONDS * 1000), minutes(MAX_OUTAGE_SECONDS * 1000)],
    ],
    ['64 characters', '10 seconds', '12 seconds', '10,000 events'],
  ],
  conventions: [
    [
      ...[kib(operations.createKey.maxBodyBytes), kib(operations.createWebhook.maxBodyBytes)],
      ...[`${MAX_BODY_BYTES / 1024 / 1024} MiB`, counted(MAX_JSON_DEPTH, 'level')],
      ...[kib(MAX_DOCUMENT_BYTES), counted(MAX_FIELDS, 'field'), ...ofKey, kib(MAX_EVENT_BYTES), retained],
      ...[counted(MAX_ATTEMPTS, 'attempt'), timeout, counted(MAX_TOKEN_BYTES, 'byte')],
      ...[`${MAX_PUSHES} pushes`, replayed, minutes(BUDGET_WINDOW_MS)],
    ],
    ['10,240 bytes', '100 entries', '32 patterns', '100 changes', '1 second'],
  ],
  'dashboard-links': [[], ['24 hours', '30 minutes', '86,400 seconds']],
  delivery: [
    [
      ...[kib(MAX_RECEIVED_BYTES), `${NEXT_ADDRESS_MS} ms`],
      ...[first, second, third, first + second, first + second + third].map((delay) => minutes(delay * 1000)),
      ...[fourth, fifth].map((delay) => hours(delay * 1000)),
      ...[timeout, retained, `${QUICK_WITHIN_MS} ms`, minutes(QUICK_AGAIN_AFTER_MS), minutes(SLOW_FOR_MS)],
      ...[seconds(SUSPECT_AFTER_MS), seconds(SLOW_AFTER_MS), hours(MAX_WAIT_MS)],
    ],
  ],
  events: [[retained, minutes(MAX_AHEAD_MS)]],
  'going-live': [[timeout], ['64 KiB']],
  keys: [
    [counted(MAX_EMAILS, 'email'), minutes(EMAIL_WINDOW_MS), days(AUDIT_KEPT_MS)],
    ['24 hours', '30 days'],
  ],
  operating: [[], ['35 days', '1 day']],
  quickstart: [[counted(MAX_BATCH, 'event')]],
  receiving: [[timeout, hours(SECRET_GRACE_SECONDS * 1000), kib(EXCERPT_BYTES)]],
  retries: [
    [
      ...[retained, minutes(MAX_QUEUE_DELAY_SECONDS * 1000), hours(MAX_WAIT_MS), seconds(BURST_MS)],
      ...[seconds(RECOVERY_DELAY_SECONDS * 1000), days(STUCK_AFTER_MS), hours(STUCK_AFTER_MS)],
    ],
    ['1 minute'],
  ],
  sync: [
    [hours(CYCLE_MS), counted(MAX_PUSHES, 'change'), days(CONNECTION_KEPT_MS), seconds(RUNNING_MS)],
    ['128 characters', '32 patterns'],
  ],
  tokens: [
    [counted(MAX_SEGMENTS, 'segment'), counted(MAX_TOKEN_BYTES, 'byte')],
    ['128 characters', '32 patterns', '24 hours', '86,400 seconds'],
  ],
  troubleshooting: [
    [hours(SECRET_GRACE_SECONDS * 1000), timeout, hours(MAX_WAIT_MS)],
    ['5 minutes', '1 second'],
  ],
};
const UNITS =
  'minutes?|hours?|days?|seconds?|ms|KiB|MiB|bytes|characters|levels|fields|segments|patterns|attempts|entries|events|emails|changes|pushes';
const FIGURE = new RegExp(String.raw`(?<![\w.,:/#-])(?:\d[\d,]*|an?|one|ten) (?:${UNITS})\b`, 'g');

const guides = readdirSync('functions/site/docs/guides').filter((file) => file.endsWith('.md'));
const textOf = (guide: string): string =>
  readFileSync(`functions/site/docs/guides/${guide}.md`, 'utf8').replaceAll(/\s+/g, ' ');

it.each(guides.map((file) => file.slice(0, -3)))('the figures of the guide %s are those of the code', (guide) => {
  const [ofCode, others = []] = FIGURES[guide] ?? [[]];
  const figures = textOf(guide).match(FIGURE) ?? [];
  const stated = new Set(figures.map((text) => text.replace(/^(?:an?|one) /, '1 ').replace('ten ', '10 ')));
  expect([...stated].sort()).toEqual([...new Set([...ofCode, ...others])].sort());
});

it.each([
  ['retries', `up to ${MAX_KNOWN.toLocaleString('en')} of your revisions`],
  ['retries', `(default ${DEFAULT_PER_SECOND})`],
  ['retries', `(1–${MAX_PER_SECOND})`],
  ['conventions', `(default ${DEFAULT_PAGE})`],
  [
    'conventions',
    `By default ${deliveriesPerSecond.toLocaleString('en')} per second per project, on average over a minute`,
  ],
  ['conventions', `| Webhooks | ${MAX_WEBHOOKS} per project and environment,`],
  ['tokens', `Each key can have ${MAX_REVOKED_TOKENS} revoked tokens`],
  ['sync', `(10 to ${MAX_LEASE_SECONDS}, default 300)`],
  ['sync', `Up to ${MAX_CHANGES} connections open and close in one request.`],
])('the guide %s states the limit "%s" of the code', (guide, text) => {
  expect(textOf(guide)).toContain(text);
});
