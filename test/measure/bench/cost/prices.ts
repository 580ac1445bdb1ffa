/**
 * List prices in US dollars, us-east-1, without free tiers and volume discounts, as of January 2026, from the pricing pages of
 * each service (aws.amazon.com/<service>/pricing). Check them before you rely on them.
 */
export const PRICES = {
  /** REST API, per request, up to 333 million a month. */
  apiRequest: 3.5e-6,
  lambdaRequest: 0.2e-6,
  /** arm64. */
  lambdaGbSecond: 0.0000133334,
  /** On demand, after the reduction of November 2024. */
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  /** A month. */
  storedGb: 0.25,
  /** Point-in-time recovery, a month. */
  backedUpGb: 0.2,
  /** Standard queues are 0.40; with fair queues (a message group id) 0.50. Per request and 64 KB of it. */
  sqsRequest: 0.5e-6,
  schedule: 1e-6,
  email: 1e-4,
  logGb: 0.5,
  /** To the internet, after the first 100 GB of a month. */
  outGb: 0.09,
  /** A month, each. */
  metric: 0.3,
  /** A month, for each metric that an alarm looks at. */
  alarmMetric: 0.1,
  dashboard: 3,
} as const;

/**
 * The time of an endpoint, and the processor time that 512 MB of memory leave for one delivery: these functions get 0.29 of a
 * processor. The bundle took 8 to 17 ms for a delivery over TLS in a control group with that quota.
 */
const ENDPOINT_MS = 100;
/** Milliseconds of a batch of deliveries without its endpoints and its deliveries. */
export const BATCH_MS = 20;
export const DELIVERY_CPU_MS = 10;
/** The same for one message that the fan-out sends, 0.5 to 0.65 ms. */
export const MESSAGE_CPU_MS = 0.5;

/**
 * How long an invocation is billed, in milliseconds at 512 MB, and how much longer for each record of its batch. The first
 * numbers are assumed. A call of a service takes 5 ms.
 */
const DURATIONS_MS: readonly (readonly [name: RegExp, ms: number, perRecordMs: number])[] = [
  [/^Authorize/, 12, 0],
  [/^DeliveryDeliver/, ENDPOINT_MS + BATCH_MS, DELIVERY_CPU_MS],
  [/^DeliveryFanOut/, 25, 0],
  [/./, 15, 0],
];

/** How long an invocation with so many records is billed. */
export function durationMs(functionId: string, records: number): number {
  const [, ms = 0, perRecordMs = 0] = DURATIONS_MS.find(([name]) => name.test(functionId)) ?? [];
  return ms + records * perRecordMs;
}

/** Requests by which Lambda receives and deletes the messages of a batch: each takes ten at most (Amazon SQS quotas). */
export const pollRequests = (messages: number): number => 2 * Math.ceil(messages / 10);
