import * as v from 'valibot';
import type { Pace } from '../deliveries/lanes.ts';
import { MAX_PER_SECOND } from '../deliveries/rate-limit.ts';
import { Pattern } from '../documents/document.ts';
import { EVENT_TYPES } from '../events/types.ts';
import type { PathParameter } from '../http/path-parameter.ts';
import { idOf } from '../ids.ts';
import { uniqueList } from '../lists.ts';
import { optional, optionalMembers } from '../optional.ts';
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
import { type Backlog, CONDITION, type DISABLED_REASONS } from './condition.ts';
import { CustomHeaders, MAX_HEADERS, MAX_HEADERS_BYTES, masked } from './custom-headers.ts';
import type { EmailState } from './email-state.ts';
import { type PreviousSecret, Secret, secretHint } from './signing.ts';

/** Per project and environment. */
export const MAX_WEBHOOKS = 100;
/** Patterns of one webhook. */
const MAX_PATTERNS = 32;
/** Characters. */
export const MAX_URL_LENGTH = 2048;
export const WEBHOOK_STATUSES = ['enabled', 'disabled'] as const;

// endpoint-url.ts returns the violations.
const url = v.pipe(
  v.string('must be a string'),
  v.metadata({
    jsonSchema: {
      format: 'uri',
      maxLength: MAX_URL_LENGTH,
      pattern: '^[^#]*$',
      examples: ['https://example.com/webhooks'],
    },
  }),
);

/** The members that a customer sets, as requests give them and as responses show them. */
const SETTINGS = {
  url: {
    meaning: 'Where deliveries are posted: an absolute `https:` URL on a public host, without credentials or fragment.',
    given: url,
    shown: v.string(),
  },
  events: {
    meaning: 'The event types that the webhook is subscribed to.',
    given: uniqueList(oneOf(EVENT_TYPES), 1, EVENT_TYPES.length),
    shown: v.array(v.picklist(EVENT_TYPES)),
  },
  documents: {
    meaning:
      'Patterns of document keys, as in scoped tokens. The webhook receives only events of matching documents. An empty list matches all events, including events without a document.',
    given: uniqueList(Pattern, 0, MAX_PATTERNS),
    shown: v.array(v.string()),
  },
  headers: {
    meaning: `Headers to send with every attempt, at most ${MAX_HEADERS} and ${MAX_HEADERS_BYTES} bytes in all, such as a credential of the endpoint. Headers that the service, HTTP or a proxy sets are reserved, also with \`_\` in place of \`-\`. Responses mask the values.`,
    given: CustomHeaders,
    shown: v.record(v.string(), v.string()),
  },
  description: { meaning: 'Optional description.', given: v.nullable(text(0, 500)), shown: v.nullable(v.string()) },
  max_per_second: {
    meaning: `At most this many attempts per second, from 1 to ${MAX_PER_SECOND}. Attempts beyond it wait. A delivery that would wait for more than an hour is \`skipped\`, and a recovery sends it. After a pause, one second can have twice as many. \`null\` means no limit.`,
    given: v.nullable(integer(1, MAX_PER_SECOND)),
    shown: v.nullable(wholeNumber()),
  },
} as const;

type SettingsAs<Form extends 'given' | 'shown'> = { [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name][Form] };
function settingsAs<Form extends 'given' | 'shown'>(form: Form): SettingsAs<Form> {
  const entries = Object.entries(SETTINGS).map(([name, { meaning, ...forms }]) => {
    const schema: v.GenericSchema = forms[form];
    return [name, described(schema, meaning)];
  });
  return Object.fromEntries(entries);
}

/** An absent member of a stored webhook has the default of its schema in `CreateWebhook`. */
const settings = settingsAs('given');

export const CreateWebhook = request('CreateWebhook', {
  ...settings,
  documents: v.nullish(settings.documents, []),
  headers: v.nullish(settings.headers, {}),
  secret: optional(
    described(
      Secret,
      'Your own signing secret. After `whsec_`, which can only be its start, it must be the base64 of at least 16 bytes. It has no white space at its ends. By default, the service generates a secret.',
    ),
  ),
  description: v.optional(settings.description, null),
  max_per_second: v.optional(settings.max_per_second, null),
});

/** The settings of a webhook for which a request gave none. */
export const DEFAULT_SETTINGS: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(CreateWebhook.entries).map(([name, schema]) => [name, v.safeParse(schema, undefined).output]),
);

export const ChangeWebhook = request('ChangeWebhook', {
  ...optionalMembers(settings),
  status: optional(described(oneOf(WEBHOOK_STATUSES), '`enabled` enables the webhook, and `disabled` pauses it.')),
});
export type WebhookChange = v.InferOutput<typeof ChangeWebhook>;

export const WebhookResource = resource('Webhook', {
  id: described(v.string(), 'Identifies the webhook.'),
  ...settingsAs('shown'),
  status: described(
    v.picklist(WEBHOOK_STATUSES),
    '`enabled` or `disabled`. A webhook is disabled when it is paused, or after a delivery failed six times.',
  ),
  environment: described(v.picklist(ENVIRONMENTS), 'The environment of the webhook.'),
  secret_hint: described(v.string(), 'The last 4 characters of the secret, if it has 16 or more.'),
  created_at: described(timestamp, 'When the webhook was created.'),
  updated_at: described(timestamp, 'When the webhook was last changed.'),
  ...CONDITION,
});

/** Only this response contains `secret`. In its replay it is `null`. */
export const WebhookWithSecret = resource('WebhookWithSecret', {
  ...WebhookResource.entries,
  secret: described(
    v.nullable(v.string()),
    'Signs every delivery. Only the response that sets it contains it. `null` in a replay.',
  ),
});

type Settings = v.InferOutput<typeof CreateWebhook>;
type Original = 'url' | 'events' | 'description';
type Added = { [Name in keyof Omit<Settings, Original | 'secret' | 'max_per_second'>]?: Settings[Name] | undefined };

/** A stored webhook. Times are in milliseconds since 1970. Members that a release added are absent in older webhooks. */
export interface WebhookRecord extends Space, Pick<Settings, Original>, Added, EmailState, Pace {
  id: string;
  /** `max_per_second`. Absent without a limit. Releases share the table, so the stored name stays. */
  maxPerSecond?: number | undefined;
  secret: string;
  /** Secrets before rotations, newest first. */
  previousSecrets?: PreviousSecret[] | undefined;
  status: (typeof WEBHOOK_STATUSES)[number];
  createdAt: number;
  updatedAt: number;
  disabledAt?: number | undefined;
  disabledReason?: (typeof DISABLED_REASONS)[number] | undefined;
  /** When the subscription last changed. Absent if it never did. */
  subscribedAt?: number | undefined;
  /** The first failed attempt since the last success. */
  failingSince?: number | undefined;
  /** The first failed attempt or pause since the last success. Deliveries that ended earlier are not part of this outage. */
  undeliveredSince?: number | undefined;
  /** The recovery that can send deliveries. Absent if the webhook had none, or was disabled since it started. */
  recoveryId?: string | undefined;
}

type WebhookOutput = v.InferOutput<typeof WebhookResource>;

export const webhookResource = (record: WebhookRecord, backlog: Backlog): WebhookOutput => ({
  ...webhookData(record),
  ...backlog,
});

/** The stored members of a webhook. */
export function webhookData(record: WebhookRecord): Omit<WebhookOutput, keyof Backlog> {
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

export const webhookParameter: PathParameter = {
  resource: 'webhook',
  schema: idOf('whk'),
  description: 'The id of the webhook.',
  example: 'whk_01KG9XZ3M0T5V8QW2R4Y6B7CDE',
};
