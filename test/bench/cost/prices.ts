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
 * How long an invocation is billed, in milliseconds at 512 MB. Assumed: this machine says nothing about Lambda's. A call of a
 * service takes 5 ms there, an endpoint 100 ms.
 */
export const DURATIONS_MS = [
  [/^Authorize/, 12],
  [/^DeliveryDeliver/, 130],
  [/^DeliveryFanOut/, 25],
  [/./, 15],
] as const;
