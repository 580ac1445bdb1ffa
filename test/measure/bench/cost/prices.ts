/**
 * List prices in US dollars, us-east-1, without free tiers and volume discounts, as of January 2026, from the pricing pages of
 * each service (aws.amazon.com/<service>/pricing). Check them before you rely on them.
 */
export const PRICES = {
  /** REST API, per request, up to 333 million per month. */
  apiRequest: 3.5e-6,
  lambdaRequest: 0.2e-6,
  /** arm64. */
  lambdaGbSecond: 0.0000133334,
  /** On demand, after the reduction of November 2024. */
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  /** Per month. */
  storedGb: 0.25,
  /** Point-in-time recovery, per month. */
  backedUpGb: 0.2,
  /** Per request and 64 KB. Standard queues cost 0.40, and fair queues (with a message group id) cost 0.50. */
  sqsRequest: 0.5e-6,
  schedule: 1e-6,
  email: 1e-4,
  logGb: 0.5,
  /** To the internet, after the first 100 GB per month. */
  outGb: 0.09,
  /** Per month and metric. */
  metric: 0.3,
  /** Per month, for each metric of an alarm. */
  alarmMetric: 0.1,
  dashboard: 3,
} as const;

/**
 * The response time of an endpoint, and the CPU time of a delivery with 512 MB of memory, which gets 0.29 of a vCPU. Over TLS, it
 * is 2 ms of a vCPU in batches of 100 and 5.6 ms in batches of 10 (`npm run bench -- cpu`).
 */
const ENDPOINT_MS = 100;
/** The fixed milliseconds of a batch of deliveries. */
const BATCH_MS = 20;
const DELIVERY_CPU_MS = 10;
/** The CPU time of a message in the fan-out, 0.02 to 0.2 ms of a vCPU (`npm run bench -- cpu`). */
export const MESSAGE_CPU_MS = 0.5;

/**
 * The billed milliseconds of an invocation with 512 MB, and of each record in its batch. The first numbers are assumptions, with
 * 5 ms per call of a service.
 */
const DURATIONS_MS: readonly (readonly [name: RegExp, ms: number, perRecordMs: number])[] = [
  [/^Authorize/, 12, 0],
  [/^DeliveryDeliver/, ENDPOINT_MS + BATCH_MS, DELIVERY_CPU_MS],
  [/^DeliveryFanOut/, 25, 0],
  [/./, 15, 0],
];

/** Returns the billed milliseconds of an invocation. */
export function durationMs(functionId: string, records: number): number {
  const [, ms = 0, perRecordMs = 0] = DURATIONS_MS.find(([name]) => name.test(functionId)) ?? [];
  return ms + records * perRecordMs;
}

/**
 * The requests in which Lambda receives and deletes the messages of a batch. Each has at most ten messages (Amazon SQS quotas).
 */
export const pollRequests = (messages: number): number => 2 * Math.ceil(messages / 10);
