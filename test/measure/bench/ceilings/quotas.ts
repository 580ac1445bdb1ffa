/** A quota of AWS in us-east-1 (January 2026), or of the stack if its source is a file. Rates are per second. */
export interface Quota {
  limit: number;
  /** Whether Service Quotas or a parameter can raise it. */
  adjustable: boolean;
  source: string;
}

const DYNAMODB = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide';
const LAMBDA = 'https://docs.aws.amazon.com/lambda/latest/dg';
const SCHEDULER = 'https://docs.aws.amazon.com/scheduler/latest/UserGuide/scheduler-quotas.html';
const SETTINGS = 'infra/settings.ts';

/** Check these values before you rely on them, because AWS raises quotas. */
export const QUOTAS = {
  partitionWrites: { limit: 1000, adjustable: false, source: `${DYNAMODB}/bp-partition-key-design.html` },
  partitionReads: { limit: 3000, adjustable: false, source: `${DYNAMODB}/bp-partition-key-design.html` },
  /** The limits of a new on-demand table. */
  newTableWrites: { limit: 4000, adjustable: true, source: `${DYNAMODB}/on-demand-capacity-mode.html` },
  newTableReads: { limit: 12_000, adjustable: true, source: `${DYNAMODB}/on-demand-capacity-mode.html` },
  tableWrites: { limit: 40_000, adjustable: true, source: `${DYNAMODB}/ServiceQuotas.html` },
  tableReads: { limit: 40_000, adjustable: true, source: `${DYNAMODB}/ServiceQuotas.html` },
  /** The limits of each method, and of each share of the projects. */
  throttleRate: { limit: 1000, adjustable: true, source: SETTINGS },
  projectThrottleRate: { limit: 500, adjustable: true, source: SETTINGS },
  gatewayRequests: {
    limit: 10_000,
    adjustable: true,
    source: 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html',
  },
  lambdaConcurrency: { limit: 1000, adjustable: true, source: `${LAMBDA}/gettingstarted-limits.html` },
  /** The concurrent batches of a lane, and the maximum of the parameter. */
  deliverConcurrency: { limit: 150, adjustable: true, source: SETTINGS },
  mappingConcurrency: { limit: 1000, adjustable: false, source: `${LAMBDA}/services-sqs-scaling.html` },
  messagesInFlight: {
    limit: 120_000,
    adjustable: false,
    source: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html',
  },
  schedules: { limit: 10_000_000, adjustable: true, source: SCHEDULER },
  createSchedule: { limit: 5000, adjustable: true, source: SCHEDULER },
  scheduleInvocations: { limit: 1000, adjustable: true, source: SCHEDULER },
  /** A usual rate after the sandbox. */
  emails: { limit: 14, adjustable: true, source: 'https://docs.aws.amazon.com/ses/latest/dg/quotas.html' },
} as const satisfies Record<string, Quota>;
