import * as v from 'valibot';
import { KEY_TYPES } from '../../credentials.ts';
import { DELIVERY_REASONS, DELIVERY_STATUSES, TRIGGERS } from '../../deliveries/retry-schedule.ts';
import { EVENT_TYPES } from '../../events/types.ts';
import { listOf } from '../../http/operation.ts';
import { PROBLEMS } from '../../http/problems.ts';
import { KEY_STATUSES } from '../../keys/key.ts';
import { described, wholeNumber } from '../../schema.ts';
import { ENVIRONMENTS } from '../../space.ts';
import { DISABLED_REASONS } from '../../webhooks/condition.ts';
import { WEBHOOK_STATUSES } from '../../webhooks/webhook.ts';
import { allOperations } from '../operations.ts';

/** An error response (RFC 9457), as lib/http/problems.ts writes it. */
const Problem = v.object({
  type: described(v.string(), 'The absolute URI of the page that explains the code.'),
  title: described(v.string(), 'The meaning of the code.'),
  status: described(wholeNumber(), 'The HTTP status code.'),
  detail: described(v.string(), 'How to resolve the problem.'),
  code: described(
    v.picklist(Object.keys(PROBLEMS) as (keyof typeof PROBLEMS)[]),
    'A stable code that programs can compare.',
  ),
  request_id: described(
    v.string(),
    'The id of the request, also in `X-Request-Id`. Include it when you contact the operator.',
  ),
  errors: v.optional(
    described(
      v.array(
        v.object({
          field: described(v.string(), 'The member of the body, or the parameter.'),
          detail: described(v.string(), 'The violation.'),
        }),
      ),
      'Every violation in the request. Only 400 responses can have it.',
    ),
  ),
});

type Named = [name: string, schema: v.GenericSchema];

/** The named schemas in a value, however deep. */
function namedIn(value: unknown, seen = new Set<unknown>()): Named[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const last = (value as { pipe?: readonly { type: string; title?: string }[] }).pipe?.at(-1);
  const name = last?.type === 'title' ? last.title : undefined;
  const inside = Object.values(value).flatMap((part) => namedIn(part, seen));
  return name === undefined ? inside : [[name, value as unknown as v.GenericSchema], ...inside];
}

const RESOURCES = namedIn(allOperations.map(({ body, responses }) => [body, responses]));
const RESPONSES = new Set(allOperations.flatMap(({ responses }) => Object.values(responses)));

/** A page of a list is named after what it lists: `WebhookPage`. */
const PAGES = RESOURCES.map(([name, resource]): Named => [`${name}Page`, listOf(resource)]).filter(([, list]) =>
  RESPONSES.has(list),
);

/** The schemas that have a name in the document. */
export const NAMED: Readonly<Record<string, v.GenericSchema>> = {
  ...Object.fromEntries([...RESOURCES, ...PAGES]),
  Problem,
};

/** Lists of words that have a name, wherever a member is one of them. */
export const NAMED_LISTS: Readonly<Record<string, readonly string[]>> = {
  AttemptTrigger: TRIGGERS,
  DeliveryReason: DELIVERY_REASONS,
  DeliveryStatus: DELIVERY_STATUSES,
  DisabledReason: DISABLED_REASONS,
  Environment: ENVIRONMENTS,
  EventType: EVENT_TYPES,
  KeyStatus: KEY_STATUSES,
  KeyType: KEY_TYPES,
  WebhookStatus: WEBHOOK_STATUSES,
};
