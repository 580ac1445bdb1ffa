import * as v from 'valibot';
import { Pattern } from '../documents/pattern-schemas.ts';
import { EVENT_TYPES, type EventType } from '../events/types.ts';
import { uniqueList } from '../lists.ts';
import {
  described,
  integer,
  iso,
  isoOrNull,
  oneOf,
  request,
  resource,
  text,
  timestamp,
  wholeNumber,
} from '../schema.ts';
import { ENVIRONMENTS, type Space } from '../space.ts';
import { CustomHeaders, type HeaderList, MAX_HEADERS, MAX_HEADERS_BYTES, masked } from './custom-headers.ts';
import { MAX_PER_SECOND } from './rate.ts';
import { type PreviousSecret, Secret, secretHint } from './secrets.ts';

/** Per project and environment. */
export const MAX_WEBHOOKS = 100;
/** Patterns of one webhook. */
const MAX_PATTERNS = 32;
/** Characters. */
export const MAX_URL_LENGTH = 2048;
export const WEBHOOK_STATUSES = ['enabled', 'disabled'] as const;
export const DISABLED_REASONS = ['deliveries_failed', 'paused'] as const;

/** A stored webhook. Times are in milliseconds since 1970. */
export interface WebhookRecord extends Space {
  id: string;
  url: string;
  events: EventType[];
  /** Patterns of the documents whose events it receives. Without patterns it receives all events, including those without a document. */
  documents?: string[] | undefined;
  /** Sent with every attempt. */
  headers?: HeaderList | undefined;
  description: string | null;
  /** The maximum attempts per second. Absent without a limit. */
  maxPerSecond?: number | undefined;
  secret: string;
  /** Secrets before rotations, newest first. */
  previousSecrets?: PreviousSecret[] | undefined;
  status: (typeof WEBHOOK_STATUSES)[number];
  createdAt: number;
  updatedAt: number;
  disabledAt?: number | undefined;
  disabledReason?: (typeof DISABLED_REASONS)[number] | undefined;
  /** The delivery (event id and run) whose sixth failure disabled it, and which sends the email. */
  disabledBy?: string | undefined;
  emailedAt?: number | undefined;
  /** The end of the claim of the run that is sending the email. */
  emailingUntil?: number | undefined;
  /** When the subscription last changed. Absent if it never did. */
  subscribedAt?: number | undefined;
  /** The first failed attempt since the last success. */
  failingSince?: number | undefined;
  /** The first failed attempt or pause since the last success. Deliveries that ended earlier are not part of this outage. */
  undeliveredSince?: number | undefined;
  /** The delivery (event id and run) whose fourth failure in this outage warned the customer. */
  warnedBy?: string | undefined;
  warnedAt?: number | undefined;
  /** The end of the claim of the run that is sending the warning. */
  warningUntil?: number | undefined;
  /** The skipped delivery (event id and run) for which the customer was notified of the current overload. */
  overloadedBy?: string | undefined;
  overloadedAt?: number | undefined;
  /** The end of the claim of the run that is sending this email. */
  overloadingUntil?: number | undefined;
  /** Since when the endpoint has the quick lane, possibly in the future. Absent before its first quick attempt, and after a slow one. */
  quickSince?: number | undefined;
  /** Until then it takes the slow lane. */
  slowUntil?: number | undefined;
}

const URL_MEANING =
  'Where deliveries are posted: an absolute `https:` URL on a public host, without credentials or fragment.';
// endpoint-url.ts returns the violations.
const url = v.pipe(
  v.string('must be a string'),
  v.metadata({ jsonSchema: { format: 'uri', maxLength: MAX_URL_LENGTH, examples: ['https://example.com/webhooks'] } }),
  v.description(URL_MEANING),
);
const events = uniqueList(oneOf(EVENT_TYPES), 1, EVENT_TYPES.length);
const description = v.nullable(text(0, 500));
const documents = described(
  uniqueList(Pattern, 0, MAX_PATTERNS),
  'Patterns of document keys, as in scoped tokens. The webhook receives only events of matching documents. An empty list matches all events, including events without a document.',
);
const headers = described(
  CustomHeaders,
  `Headers to send with every attempt, at most ${MAX_HEADERS} and ${MAX_HEADERS_BYTES} bytes in all, such as a credential of the endpoint.`,
);
const maxPerSecond = described(
  v.nullable(integer(1, MAX_PER_SECOND)),
  `The most attempts per second, from 1 to ${MAX_PER_SECOND}. Attempts beyond it wait. A delivery that would wait for more than an hour is \`skipped\`, and a recovery sends it. After a pause, one second can have twice as many. \`null\` means no limit.`,
);
export const CreateWebhook = request('CreateWebhook', {
  url,
  events: described(events, 'The event types to subscribe to.'),
  documents: v.optional(documents),
  headers: v.optional(headers),
  secret: v.optional(
    described(
      Secret,
      'Your own signing secret. After `whsec_`, it must be the base64 of at least 16 bytes. By default, the service generates a secret.',
    ),
  ),
  description: v.optional(described(description, 'Optional description.'), null),
  max_per_second: v.optional(maxPerSecond, null),
});

export const ChangeWebhook = request('ChangeWebhook', {
  url: v.optional(url),
  events: v.optional(described(events, 'The event types to subscribe to.')),
  documents: v.optional(documents),
  headers: v.optional(headers),
  description: v.optional(described(description, 'Optional description.')),
  max_per_second: v.optional(maxPerSecond),
  status: v.optional(described(oneOf(WEBHOOK_STATUSES), '`enabled` enables the webhook, and `disabled` pauses it.')),
});
export type WebhookChange = v.InferOutput<typeof ChangeWebhook>;

export const RotateSecret = request('RotateSecret', {
  secret: v.optional(described(Secret, 'Your own new secret, as for a new webhook. Generated by default.')),
});
export const WebhookResource = resource('Webhook', {
  id: described(v.string(), 'Identifies the webhook.'),
  url: described(v.string(), URL_MEANING),
  events: described(v.array(v.picklist(EVENT_TYPES)), 'The event types that the webhook is subscribed to.'),
  documents: described(
    v.array(v.string()),
    'Patterns of document keys. The webhook receives only events of matching documents. An empty list matches all events, including events without a document.',
  ),
  headers: described(v.record(v.string(), v.string()), 'The custom headers of every attempt. The values are masked.'),
  description: described(v.nullable(v.string()), 'Optional description.'),
  max_per_second: described(v.nullable(wholeNumber()), 'The most attempts per second. `null` means no limit.'),
  status: described(
    v.picklist(WEBHOOK_STATUSES),
    '`enabled` or `disabled`. A webhook is disabled when it is paused, or after a delivery failed six times.',
  ),
  environment: described(v.picklist(ENVIRONMENTS), 'The environment of the webhook.'),
  secret_hint: described(v.string(), 'The last 4 characters of the secret, if it has 16 or more.'),
  created_at: described(timestamp, 'When the webhook was created.'),
  updated_at: described(timestamp, 'When the webhook was last changed.'),
  failing_since: described(v.nullable(timestamp), 'When the first attempt since the last success failed.'),
  disabled_at: described(
    v.nullable(timestamp),
    'When the webhook was last disabled; `null` once a delivery has succeeded after it was enabled again.',
  ),
  disabled_reason: described(
    v.nullable(v.picklist(DISABLED_REASONS)),
    '`deliveries_failed`: all six attempts of a delivery failed. `paused`: a request disabled the webhook.',
  ),
});

/** Only this response contains `secret`. In its replay it is `null`. */
export const WebhookWithSecret = resource('WebhookWithSecret', {
  ...WebhookResource.entries,
  secret: described(
    v.nullable(v.string()),
    'Signs every delivery. Only the response that sets it contains it. `null` in a replay.',
  ),
});

export function webhookResource(record: WebhookRecord): v.InferOutput<typeof WebhookResource> {
  return {
    id: record.id,
    url: record.url,
    events: record.events,
    documents: record.documents ?? [],
    headers: Object.fromEntries(masked(record.headers)),
    description: record.description,
    max_per_second: record.maxPerSecond ?? null,
    status: record.status,
    environment: record.environment,
    secret_hint: secretHint(record.secret),
    created_at: iso(record.createdAt),
    updated_at: iso(record.updatedAt),
    failing_since: isoOrNull(record.failingSince),
    disabled_at: isoOrNull(record.disabledAt),
    disabled_reason: record.disabledReason ?? null,
  };
}
