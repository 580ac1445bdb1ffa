/** A bug that breaks a promise: a text that occurs once in a file of the service, and its replacement. */
export interface PlantedBug {
  file: string;
  from: string;
  to: string;
  /** A seed shortly before the first schedule that finds it. */
  seed: number;
}

/** Each promise of the service, by the file with a small mistake that the simulation must find: `from`, `to` and `seed`. */
const BUGS = {
  'lib/aws/writes.ts': {
    'A request that took effect never returns 404, 409, 412 or 429': ['=== writeId', "=== 'x'", 725],
  },
  'lib/deliveries/deliver.ts': {
    'No attempt lasts longer than a second in the quick lane': ['waitedMs === SUSPECT_AFTER_MS', 'waitedMs < 0', 752],
    'An attempt to a webhook with a rate limit has a token': ['webhook.maxPerSecond && (', 'false && (', 8],
  },
  'lib/deliveries/endpoint-store.ts': {
    'One overdue attempt to an endpoint stays in the quick lane': ['all(exists, isNotSlow)', 'exists', 6079],
    'A webhook is disabled once': [
      "disabled, is('status', 'enabled')",
      "disabled, is('environment', webhook.environment)",
      1049,
    ],
    'The sixth failure disables the webhook': ["status: 'disabled',", "status: 'enabled',", 5],
    'An outage is recorded from its first failure': [', undeliveredSince: initially(atMs)', '', 5],
    'Without a fault, an outage has one warning': ['isAbsent(sentAt), ', '', 56],
    'Without a fault, every disabling has one email': ['[sentAt]: nowMs, ', '', 530],
  },
  'lib/deliveries/outage.ts': {
    'Without a fault, an overload has one email': ['overloadedAt === undefined &&', 'false &&', 1346],
  },
  'lib/deliveries/notify.ts': {
    'Every due warning is sent': [
      'await send(what, await failingOf(what, found, use), use);',
      'await send(what, await failingOf(what, found, use), use).catch(() => {});',
      220,
    ],
  },
  'lib/deliveries/decide.ts': {
    'Only the sixth failure disables a webhook': [
      "status === 'failed' && !isTest",
      "status !== 'succeeded' && !isTest",
      5,
    ],
    'A delivery fails after six attempts': [
      "as: { status: 'canceled', reason: skipReasonOf(webhook) }",
      "as: { status: 'failed' }",
      5,
    ],
    'A disabled webhook receives nothing': ["webhook.status === 'disabled' && !isTest(event)", 'false', 5],
    'No attempt is repeated after it was recorded': ['delivery && isRecorded(message, delivery)', 'false', 2],
    'A successful delivery had a 2xx': ['isSuccess(attempt)', 'attempt.statusCode !== null', 5],
    'Every disabling has its email': ['isEmailPending(message, webhook) ?', 'false ?', 199],
  },
  'lib/deliveries/store.ts': {
    'A deleted webhook receives nothing': [
      'webhook: webhook && toWebhook(webhook)',
      'webhook: (table[message.webhookId] ??= webhook && toWebhook(webhook))',
      157,
    ],
    'A throttled partition delays only its own webhook': ['return unread;', 'throw unread;', 8807],
    'Every pending attempt is made': ['isRetried ? true : undefined', 'undefined'],
    'No retry is pending at the end': ['isRetried ? true : undefined', 'true'],
    'A missed event has its reason': ['reason: undefined,', "reason: 'paused',"],
    'Only a disabled or overloaded webhook misses an event': [
      'project?.suspendedAt !== undefined',
      'project !== undefined',
    ],
    'A run never goes back': [
      "all(is('run', run), isOneOf('status', UNDER_WAY))",
      "isOneOf('status', UNDER_WAY)",
      19189,
    ],
    'An ended run does not change': ['values, isBeforeAttempt(next))', 'values)', 2909],
    'Attempts never go back': ['before.attempt - 1', '0'],
    'Each attempt is recorded once': [
      "all(isThisRunGoingOn(next), isBelow('attempt', next.attempt))",
      'isThisRunGoingOn(next)',
    ],
  },
  'lib/webhooks/signing.ts': {
    'A delivery is signed with the secret of its webhook': [
      'serviceSignature(secret, body)',
      'serviceSignature(newest ?? secret, body)',
      31,
    ],
    'No expired secret signs': ['nowMs < until', 'true', 2216],
  },
  'lib/deliveries/rate-limit.ts': {
    'No second has more than twice the limit of a webhook': ['BURST_MS = 1000', 'BURST_MS = 10_000', 267],
  },
  'lib/deliveries/stream-consumers.ts': {
    'All work ends': ['isOutage(error))', 'true)'],
    'Only an event that always fails is set aside': ['isOutage(error))', 'false)', 52],
    'Only deliveries use the budget of a project': ['counts.deliveries + counts', 'counts.deliveries + 1 + counts'],
  },
  'lib/deliveries/messages.ts': {
    'Nothing becomes a dead letter': ['v.maxValue(MAX_ATTEMPTS)', 'v.maxValue(MAX_ATTEMPTS - 1)'],
  },
  'lib/events/store.ts': {
    'An accepted event is stored': ['...putEvents(published)', '...putEvents(published).slice(0, 1)'],
  },
  'lib/events/placement.ts': {
    'Lists contain each event once': ['followers?.push(event);', ''],
  },
  'lib/keys/last-admin-key.ts': {
    'A project always has an admin key': [
      'isLastingAdmin(record, now) ? lastingAdminKeys(keys, record, now, callerKeyId) : null',
      'null',
    ],
  },
  'lib/webhooks/subscription.ts': {
    'A webhook records only events that it takes': ['documents.length === 0 || ', 'true || '],
    'Every event has a delivery to every webhook': ['createdAt > at', 'createdAt > at - 2000', 776],
  },
  'lib/webhooks/store.ts': {
    'The webhook count is correct': ['[removed, countDown(space), ', '[removed, '],
  },
  'lib/events/handlers.ts': {
    'An idempotency key takes effect once': ['identity ? derivedFrom(identity.id) : random', 'random', 1696],
  },
  'lib/documents/consumers.ts': {
    'A connection ends when its lease expires': [
      'isOutdated = checkAt !== undefined && record.checkAt > checkAt',
      'isOutdated = checkAt !== undefined && record.checkAt >= checkAt',
      71,
    ],
    'A lost connection has one event': ['lostEvents(record, [record], now, random)', '[]', 47],
  },
  'lib/documents/engine-store.ts': {
    'A connection of an engine is lost once, unless it closed': ["marked.ended === 'lost' ?", 'false ?'],
  },
  'lib/documents/connections.ts': {
    'A connection is lost when its last lease expires': ['lost_at: iso(expiresAt)', 'lost_at: iso(lastSeenAt)', 47],
  },
  'lib/documents/pages.ts': {
    'Synchronized nodes agree': ['known.get(documentKey) === item.revision', 'known.has(documentKey)', 161],
  },
  'lib/documents/change-log.ts': {
    'A checkpoint misses nothing': ['OVERLAP_MS = 60_000', 'OVERLAP_MS = 0', 27],
  },
  'lib/documents/epochs.ts': {
    'A revision is not issued again after a restore': [
      'Math.max(current, epoch * REVISIONS_PER_EPOCH) + 1',
      'current + 1',
      135,
    ],
  },
  'lib/documents/sync-handlers.ts': {
    'Replicas converge after a restore': [
      'checkpoint.epoch === (await table.epoch())',
      'Object.assign(checkpoint, { epoch: await table.epoch() })',
      219,
    ],
  },
  'lib/documents/cycle.ts': {
    'A sync cycle belongs to its owner': ['stored.owner === owner && ', '', 60],
  },
  'lib/http/caller.ts': {
    'A sync cycle continues with the next token': ['user === undefined ? ', 'true ? '],
  },
  'lib/documents/push-handlers.ts': {
    'An acknowledged write is never undone by a repeat': [
      '(isRepeatable ? [putReceipt(place, receiptOf(outcome), cycle.namedAt)] : [])',
      '[]',
    ],
    'Pushes of one request follow each other': ['!receipt && pushes.unsettled.has(documentKey)', 'false', 73],
    'One bad entry does not block the others': [
      'return rejected(push, invalidPush(checked.violations));',
      'return invalidPush(checked.violations);',
    ],
  },
  'lib/documents/merge.ts': {
    'A revision is the same for everybody': [
      'const revision = nextRevision(stored.revision, epoch);',
      'const revision = Math.max(1, stored.revision);',
      161,
    ],
    'A deleted document does not come back as a fragment': [
      "if (write.op === 'patch' && stored.deleted",
      'if (false',
      102,
    ],
    'One writer does not conflict with itself in a request': [' && !ownRevisions?.has(revision)', '', 24],
  },
  'lib/documents/document-write.ts': {
    'A document matches its events': ['new_value: value', 'new_value: fieldIn(before.fields, field) ?? null', 161],
  },
  'lib/deliveries/recovery-consumers.ts': {
    'A recovery includes every delivery': ['if (next) await', 'if (!next) await'],
    'Messages of a recovery do not multiply': ['if (!isDone) {', 'if (!isDone && !next) {', 15962],
  },
  'lib/deliveries/recovery-record.ts': {
    'Only the current recovery of a webhook sends deliveries': ['isSuspended || !webhook', '!webhook', 989],
  },
  'lib/deliveries/backlog-tally.ts': {
    'The backlog matches the deliveries': ['[nameIn(from, hour)]: -1', ''],
  },
  'lib/deliveries/recovery-tally.ts': {
    'A recovery counts its deliveries': ['record.recovery !== recoveryId', 'false'],
  },
  'lib/deliveries/retry-schedule.ts': {
    'A run has at most six attempts': ['43200]', '43200, 43200]'],
    'No delay is shorter than the schedule': ['1800', '1000'],
  },
  'lib/keys/store.ts': {
    'A revoked key stays revoked': ["all(exists, isAbsent('revokedAt'))", 'exists', 2306],
    'A key is rotated once': ["isAbsent('replacedBy'), ", '', 106],
  },
  'lib/deliveries/stats-store.ts': {
    'Stats match the deliveries': ['isBelow(position, first.sequence)', 'isBelow(position, last.sequence)', 44],
  },
  'lib/documents/cycle-store.ts': {
    'A sync cycle completes once': ["all(isAbsent('completedAt'), isFreeFor(owner))", 'isFreeFor(owner)', 218],
  },
  'lib/documents/store.ts': {
    'An acknowledged write is stored': [
      'return (await store()) ? outcome : undefined;',
      'await store(); return outcome;',
      225,
    ],
    'The list of revisions matches the documents': ['[saved, listed, ', '[saved, '],
    'Every write of a document has one event': [
      'logged, ...putEvents(events)',
      'logged, ...putEvents(events.slice(1))',
    ],
  },
  'lib/keys/handlers.ts': {
    'Every change is in the audit log': [
      'revokeSafely(keys, record, changeOf(request, now, [entry]))',
      'revokeSafely(keys, record, changeOf(request, now, []))',
      28,
    ],
  },
  'lib/keys/key.ts': {
    'A revoked credential is rejected': ['revokedAt !== undefined', 'false', 1224],
  },
  'lib/keys/rotation.ts': {
    'A key works until it expires': ['graceSeconds * 1000', 'graceSeconds', 959],
  },
} as const satisfies Record<string, Record<string, readonly [from: string, to: string, seed?: number]>>;

type Bugs = typeof BUGS;
/** A promise. The simulation can check no other. */
export type Invariant = { [File in keyof Bugs]: keyof Bugs[File] }[keyof Bugs];

export const PLANTED_BUGS = Object.fromEntries(
  Object.entries<Record<string, readonly [string, string, number?]>>(BUGS).flatMap(([file, bugs]) =>
    Object.entries(bugs).map(([promise, [from, to, seed = 1]]) => [promise, { file, from, to, seed }]),
  ),
) as Record<Invariant, PlantedBug>;
