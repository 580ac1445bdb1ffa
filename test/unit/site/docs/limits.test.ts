import { readFileSync } from 'node:fs';
import { safeParse } from 'valibot';
import { expect, it } from 'vitest';
import { MAX_KNOWN, MAX_PUSHES } from '../../../../lib/documents/sync.ts';
import { EVENT_RETENTION_MS, MAX_AHEAD_MS, MAX_BATCH } from '../../../../lib/events/event.ts';
import { MAX_DOCUMENT_KEY_LENGTH } from '../../../../lib/events/placement.ts';
import { CreateToken, MAX_TOKEN_BYTES } from '../../../../lib/keys/token.ts';
import { EMAIL_WINDOW_MS, MAX_EMAILS } from '../../../../lib/projects/email-budget.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

it.each([
  ['sync', /up to (\d+) changes/, MAX_PUSHES],
  ['retries', /up to ([\d,]+) of your revisions/, MAX_KNOWN],
  ['retries', /For up to (\d+) days/, EVENT_RETENTION_MS / DAY_MS],
  ['quickstart', /accepts up to (\d+) events/, MAX_BATCH],
  ['events', /at most (\d+) days ago/, EVENT_RETENTION_MS / DAY_MS],
  ['events', /up to (\d+) minutes in the future/, MAX_AHEAD_MS / MINUTE_MS],
  ['events', /up to (\d+) characters as/, MAX_DOCUMENT_KEY_LENGTH],
  ['keys', /at most (\d+) emails in/, MAX_EMAILS],
  ['keys', /emails in (\d+) minutes/, EMAIL_WINDOW_MS / MINUTE_MS],
] as const)('states the limit of the code in the guide %s: %s', (guide, pattern, limit) => {
  const text = readFileSync(`functions/site/docs/guides/${guide}.md`, 'utf8').replaceAll(/\s+/g, ' ');
  const [, stated = ''] = pattern.exec(text) ?? [];
  expect(Number(stated.replace(',', ''))).toBe(limit);
});

it('states the limits of tokens, which the API accepts and does not exceed', () => {
  const guide = readFileSync('functions/site/docs/guides/tokens.md', 'utf8');
  const limits = /At most (\d+) patterns, (\d+) hours \(([\d,]+) seconds\) and ([\d,]+) bytes/.exec(guide) ?? [];
  const [patterns = 0, hours = 0, seconds = 0, bytes] = limits.slice(1).map((text) => Number(text.replace(',', '')));
  expect([hours * 3600, bytes]).toEqual([seconds, MAX_TOKEN_BYTES]);
  const isAccepted = (count: number, ttl: number) => {
    const documents = Array.from({ length: count }, (_, i) => `doc:${i}`);
    return safeParse(CreateToken, { documents, permissions: ['read'], ttl }).success;
  };
  expect([isAccepted(patterns, seconds), isAccepted(patterns + 1, 60), isAccepted(1, seconds + 1)]).toEqual([
    true,
    false,
    false,
  ]);
});
