import * as v from 'valibot';
import { ROLES, User } from '../credentials.ts';
import { optional } from '../optional.ts';
import { described, integer, oneOf, request, resource, timestamp } from '../schema.ts';
import { ENVIRONMENTS } from '../space.ts';
import { MAX_LIFETIME_SECONDS } from './signed-claims.ts';

const MIN_LIFETIME_SECONDS = 60;
export const DEFAULT_LIFETIME_SECONDS = 3600;

export const CreateDashboardLink = request('CreateDashboardLink', {
  environment: optional(
    described(
      oneOf(ENVIRONMENTS),
      'The environment that the link opens. Default: that of the request. Only admin keys can choose another one.',
    ),
  ),
  role: described(
    oneOf(ROLES),
    '`viewer` reads everything except keys, the audit log and the project. `editor` also creates, changes and deletes webhooks, rotates their secrets, sends tests, redelivers and recovers.',
  ),
  expires_in: optional(
    described(
      integer(MIN_LIFETIME_SECONDS, MAX_LIFETIME_SECONDS),
      `Lifetime in seconds. The default is ${DEFAULT_LIFETIME_SECONDS}.`,
    ),
  ),
  user: optional(
    described(User, 'The person who receives the link, in your terms. The dashboard and the audit log show it.'),
  ),
});

/** Only this response contains `url`. In its replay it is `null`. */
export const DashboardLink = resource('DashboardLink', {
  url: described(
    v.nullable(v.string()),
    'The link. Anyone who has it can use it, so do not log it. Only this response contains it. `null` in a replay.',
  ),
  expires_at: described(
    timestamp,
    'When the link and the session that it opens expire. They end earlier if the key is revoked, or expires after a rotation.',
  ),
});

/** The seconds that a session lives, and when it ends in milliseconds since 1970. A session does not outlive its key. */
export function lifetimeOf(requestedSeconds: number, nowMs: number, keyExpiresAt = Number.POSITIVE_INFINITY) {
  const issuedAt = Math.floor(nowMs / 1000);
  const seconds = Math.min(requestedSeconds, Math.ceil(keyExpiresAt / 1000) - issuedAt);
  return { seconds, endsAt: Math.min((issuedAt + seconds) * 1000, keyExpiresAt) };
}
