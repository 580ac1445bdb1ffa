/** A bug that breaks a promise: a text that occurs once in a file of the service, and its replacement. */
export interface PlantedBug {
  file: string;
  from: string;
  to: string;
  /** A seed shortly before the first schedule that finds it. The default is 1. */
  seed?: number;
}

/** The promises of the service, each with a bug that the simulation must find. Each bug is a small mistake. */
const BUGS = {
  'A request that took effect never returns 404, 409 or 412': {
    file: 'lib/aws/writes.ts',
    from: '=== writeId',
    to: "=== 'x'",
    seed: 268,
  },
  'No attempt lasts longer than a second in the quick lane': {
    file: 'lib/deliveries/deliver.ts',
    from: 'waitedMs === SUSPECT_AFTER_MS',
    to: 'waitedMs < 0',
    seed: 471,
  },
  'One overdue attempt to an endpoint stays in the quick lane': {
    file: 'lib/deliveries/endpoint-store.ts',
    from: 'all(exists, isNotSlow)',
    to: 'exists',
    seed: 3713,
  },
  'Without a fault, an overload has one email': {
    file: 'lib/deliveries/outage.ts',
    from: 'if (isTest(event) ||',
    to: 'if (true ||',
    seed: 97,
  },
  'A webhook is disabled once': {
    file: 'lib/deliveries/endpoint-store.ts',
    from: "disabled, is('status', 'enabled')",
    to: "disabled, is('environment', webhook.environment)",
    seed: 570,
  },
  'Only the sixth failure disables a webhook': {
    file: 'lib/deliveries/decide.ts',
    from: "status === 'failed' && !isTest",
    to: "status !== 'succeeded' && !isTest",
  },
  'The sixth failure disables the webhook': {
    file: 'lib/deliveries/endpoint-store.ts',
    from: "status: 'disabled',",
    to: "status: 'enabled',",
  },
  'A deleted webhook receives nothing': {
    file: 'lib/deliveries/store.ts',
    from: 'webhook: webhook && toWebhook(webhook)',
    to: 'webhook: (table[message.webhookId] ??= webhook && toWebhook(webhook))',
    seed: 62,
  },
  'A disabled webhook receives nothing': {
    file: 'lib/deliveries/decide.ts',
    from: "webhook.status === 'disabled' && !isTest",
    to: 'false',
  },
  'No attempt is repeated after it was recorded': {
    file: 'lib/deliveries/decide.ts',
    from: 'delivery && isRecorded(message, delivery)',
    to: 'false',
  },
  'A delivery is signed with the secret of its webhook': {
    file: 'lib/webhooks/signing.ts',
    from: 'serviceSignature(secret, body)',
    to: 'serviceSignature(newest ?? secret, body)',
    seed: 31,
  },
  'No expired secret signs': {
    file: 'lib/webhooks/signing.ts',
    from: 'nowMs < until',
    to: 'true',
    seed: 845,
  },
  'A throttled partition delays only its own webhook': {
    file: 'lib/deliveries/store.ts',
    from: 'return unread;',
    to: 'throw unread;',
    seed: 1987,
  },
  'An attempt to a webhook with a rate limit has a token': {
    file: 'lib/deliveries/deliver.ts',
    from: 'webhook.maxPerSecond && (',
    to: 'false && (',
  },
  'No second has more than twice the limit of a webhook': {
    file: 'lib/deliveries/rate-limit.ts',
    from: 'BURST_MS = 1000',
    to: 'BURST_MS = 10_000',
    seed: 267,
  },
  'All work ends': {
    file: 'lib/deliveries/stream-consumers.ts',
    from: 'isOutage(error))',
    to: 'true)',
  },
  'Only an event that always fails is set aside': {
    file: 'lib/deliveries/stream-consumers.ts',
    from: 'isOutage(error))',
    to: 'false)',
  },
  'Nothing becomes a dead letter': {
    file: 'lib/deliveries/messages.ts',
    from: 'v.maxValue(MAX_ATTEMPTS)',
    to: 'v.maxValue(MAX_ATTEMPTS - 1)',
  },
  'An accepted event is stored': {
    file: 'lib/events/store.ts',
    from: '...published.map(putEvent)',
    to: '...published.slice(0, 1).map(putEvent)',
  },
  'A project always has an admin key': {
    file: 'lib/keys/last-admin-key.ts',
    from: 'isCountedOn ? lastingAdminKeys(keys, record, revokedAt, callerKeyId) : null',
    to: 'null',
  },
  'A webhook records only events that it takes': {
    file: 'lib/deliveries/fan-out.ts',
    from: 'documents.length === 0 || ',
    to: 'true || ',
  },
  'Every event has a delivery to every webhook': {
    file: 'lib/deliveries/fan-out.ts',
    from: 'createdAt > event.at',
    to: 'createdAt > event.at - 2000',
    seed: 314,
  },
  'Every pending attempt is made': {
    file: 'lib/deliveries/store.ts',
    from: 'isRetried ? true : undefined',
    to: 'undefined',
  },
  'No retry is pending at the end': {
    file: 'lib/deliveries/store.ts',
    from: 'isRetried ? true : undefined',
    to: 'true',
  },
  'A successful delivery had a 2xx': {
    file: 'lib/deliveries/decide.ts',
    from: 'isSuccess(attempt)',
    to: 'attempt.statusCode !== null',
  },
  'A delivery fails after six attempts': {
    file: 'lib/deliveries/deliver.ts',
    from: "store.end(message, event, 'canceled', now)",
    to: "store.end(message, event, 'failed', now)",
  },
  'Only a disabled or overloaded webhook misses an event': {
    file: 'lib/deliveries/store.ts',
    from: 'project?.suspendedAt !== undefined',
    to: 'project !== undefined',
  },
  'The webhook count is correct': {
    file: 'lib/webhooks/store.ts',
    from: '[removed, countDown(space), ',
    to: '[removed, ',
  },
  'An idempotency key takes effect once': {
    file: 'lib/events/handlers.ts',
    from: 'identity ? derivedFrom(`${identity.id} ${i}`) : random',
    to: 'random',
    seed: 906,
  },
  'A connection ends when its lease expires': {
    file: 'lib/documents/consumers.ts',
    from: 'record.checkAt > checkAt',
    to: 'record.checkAt >= checkAt',
    seed: 33,
  },
  'A lost connection has one event': {
    file: 'lib/documents/consumers.ts',
    from: '[lostEvent(record, now, random)]',
    to: '[]',
  },
  'A connection is lost when its last lease expires': {
    file: 'lib/documents/connections.ts',
    from: 'lost_at: iso(expiresAt)',
    to: 'lost_at: iso(lastSeenAt)',
  },
  'Synchronized nodes agree': {
    file: 'lib/documents/pages.ts',
    from: 'known.get(documentKey) === revision',
    to: 'known.has(documentKey)',
    seed: 161,
  },
  'A revision is the same for everybody': {
    file: 'lib/documents/merge.ts',
    from: 'const revision = stored.revision + 1;',
    to: 'const revision = Math.max(1, stored.revision);',
    seed: 161,
  },
  'An outage is recorded from its first failure': {
    file: 'lib/deliveries/endpoint-store.ts',
    from: ', undeliveredSince: initially(atMs)',
    to: '',
  },
  'Every due warning is sent': {
    file: 'lib/deliveries/outage.ts',
    from: 'await send(what, failing, batch);',
    to: 'await send(what, failing, batch).catch(() => {});',
    seed: 76,
  },
  'Without a fault, an outage has one warning': {
    file: 'lib/deliveries/endpoint-store.ts',
    from: 'isAbsent(sentAt), ',
    to: '',
    seed: 31,
  },
  'Every disabling has its email': {
    file: 'lib/deliveries/decide.ts',
    from: 'isLastOf(message, delivery) && isEmailOwed(message, webhook)',
    to: 'false',
    seed: 77,
  },
  'Without a fault, every disabling has one email': {
    file: 'lib/deliveries/endpoint-store.ts',
    from: '[sentAt]: nowMs, ',
    to: '',
    seed: 283,
  },
  'A recovery includes every delivery': {
    file: 'lib/deliveries/consumers.ts',
    from: 'next !== undefined',
    to: 'false',
    seed: 1933,
  },
  'A run never goes back': {
    file: 'lib/deliveries/store.ts',
    from: "all(is('run', run), isOneOf('status', UNDER_WAY))",
    to: "isOneOf('status', UNDER_WAY)",
    seed: 3090,
  },
  'An ended run does not change': {
    file: 'lib/deliveries/store.ts',
    from: 'values, isBeforeAttempt(next))',
    to: 'values)',
    seed: 1240,
  },
  'Attempts never go back': {
    file: 'lib/deliveries/store.ts',
    from: 'before.attempt - 1',
    to: '0',
  },
  'Each attempt is recorded once': {
    file: 'lib/deliveries/store.ts',
    from: "all(isThisRunGoingOn(next), isBelow('attempt', next.attempt))",
    to: 'isThisRunGoingOn(next)',
  },
  'A run has at most six attempts': {
    file: 'lib/deliveries/retry-schedule.ts',
    from: '43200]',
    to: '43200, 43200]',
  },
  'No delay is shorter than the schedule': {
    file: 'lib/deliveries/retry-schedule.ts',
    from: '1800',
    to: '1000',
  },
  'A revoked key stays revoked': {
    file: 'lib/keys/store.ts',
    from: "all(exists, isAbsent('revokedAt'))",
    to: 'exists',
    seed: 748,
  },
  'A key is rotated once': {
    file: 'lib/keys/store.ts',
    from: "isAbsent('replacedBy'), ",
    to: '',
    seed: 106,
  },
  'Stats match the deliveries': {
    file: 'lib/deliveries/stats-store.ts',
    from: 'isBelow(position, first.sequence)',
    to: 'isBelow(position, last.sequence)',
    seed: 44,
  },
  'A sync cycle completes once': {
    file: 'lib/documents/store.ts',
    from: "all(isAbsent('completedAt'), isFreeFor(credentialId))",
    to: 'isFreeFor(credentialId)',
    seed: 218,
  },
  'The list of revisions matches the documents': {
    file: 'lib/documents/store.ts',
    from: '[saved, listed, ',
    to: '[saved, ',
  },
  'Every write of a document has one event': {
    file: 'lib/documents/store.ts',
    from: "before === 0 ? isNew : is('revision', before)",
    to: "isAbsent('absent')",
  },
  'A document matches its events': {
    file: 'lib/documents/merge.ts',
    from: 'new_value: value',
    to: 'new_value: own(stored.fields, field) ?? null',
    seed: 161,
  },
  'Every change is in the audit log': {
    file: 'lib/keys/handlers.ts',
    from: 'record, now, [entry]',
    to: 'record, now, []',
    seed: 28,
  },
  'A revoked credential is rejected': {
    file: 'lib/keys/key.ts',
    from: 'revokedAt !== undefined',
    to: 'false',
    seed: 1224,
  },
  'A key works until it expires': {
    file: 'lib/keys/key.ts',
    from: 'graceSeconds * 1000',
    to: 'graceSeconds',
    seed: 861,
  },
} as const satisfies Record<string, PlantedBug>;

/** A promise. The simulation can check no other. */
export type Invariant = keyof typeof BUGS;
export const PLANTED_BUGS: Record<Invariant, PlantedBug> = BUGS;
