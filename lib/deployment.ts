// Names that the template and the functions must agree on.

/** Every environment variable of the functions. */
export type Variable =
  | 'TABLE_NAME'
  | 'DELIVERIES_QUEUE_URL'
  | 'NEW_QUEUE_URL'
  | 'SLOW_QUEUE_URL'
  | 'LANE'
  | 'CHECKS_QUEUE_URL'
  | 'SCHEDULE_GROUP'
  | 'SCHEDULE_ROLE_ARN'
  | 'SCHEDULE_DLQ_ARN'
  | 'SENDER_EMAIL'
  | 'CONFIGURATION_SET'
  | 'SUMMARIES_QUEUE_URL'
  | 'BASE_URL'
  | 'DASHBOARD_URL'
  | 'SHARE_PREFIX'
  | 'SOURCE_ADDRESSES'
  | 'DELIVERIES_PER_SECOND'
  | 'FAILED_EVENTS_URL';

/** The variables that name the queues of the lanes. */
export const LANE_QUEUES = {
  quick: 'DELIVERIES_QUEUE_URL',
  new: 'NEW_QUEUE_URL',
  slow: 'SLOW_QUEUE_URL',
} as const satisfies Record<string, Variable>;

/** The prefix of the partition key of every item, before a `#`. Permissions are granted by this prefix. */
export type ItemKind =
  | 'PROJECT'
  | 'PROJECTS'
  | 'EMAILS'
  | 'KEY'
  | 'KEYS'
  | 'AUDIT'
  | 'HOOKS'
  | 'LOGS'
  | 'COUNT'
  | 'EVENT'
  | 'HOOK'
  | 'FIGURES'
  | 'SLOTS'
  | 'RECOVERY'
  | 'DOCS'
  | 'REVISIONS'
  | 'CHANGES'
  | 'CONNECTION'
  | 'ENGINE'
  | 'SYNC'
  | 'IDEMPOTENCY'
  | 'DELETION'
  | 'VERSION';

/** The layout of the items (lib/aws/items.ts). Raise it when code of an earlier release must not read or write them. */
export const LAYOUT = 2;

/** The item that stores the layout of the table and its epoch, in the members `layout` and `epoch`. */
export const LAYOUT_KEY = { pk: 'VERSION#LAYOUT', sk: 'VERSION' } as const satisfies Record<
  string,
  `${ItemKind}${string}`
>;

/** The attribute of the table with the time at which DynamoDB deletes an item, in seconds since 1970. */
export const TIME_TO_LIVE = 'expires';

/** The index of the table: the keys of a project. */
export const BY_PROJECT = 'by_project';

/** The index of deliveries that have not succeeded, by webhook and status. */
export const BY_STATUS = 'by_status';

/** The index of events by type, which has one entry for each publication. */
export const BY_TYPE = 'by_type';

/** The one dimension of every metric. */
export const METRICS_SERVICE = 'document-sync';

/** Counts units of work with internal failures. */
export const HANDLING_FAILURES = 'HandlingFailures';

/** Counts events that the fan-out could not handle and stored in the bucket of failed events. */
export const EVENTS_SET_ASIDE = 'EventsSetAside';

/** The prefix of the objects that the fan-out stores there. */
export const SET_ASIDE_PREFIX = 'set-aside/';

/** The universal target of schedules in an AWS partition. Unlike the templated target, it supports the group of a fair queue. */
export const sendMessageTarget = (partition: string): string => `arn:${partition}:scheduler:::aws-sdk:sqs:sendMessage`;
