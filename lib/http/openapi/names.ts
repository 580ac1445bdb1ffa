import * as v from 'valibot';
import { StatsResource } from '../../deliveries/operations.ts';
import * as deliveries from '../../deliveries/record.ts';
import { DELIVERY_STATUSES, TRIGGERS } from '../../deliveries/statuses.ts';
import * as connections from '../../documents/connections.ts';
import * as documents from '../../documents/document.ts';
import * as sync from '../../documents/sync.ts';
import * as events from '../../events/event.ts';
import { EventTypeDescription } from '../../events/operations.ts';
import { EVENT_TYPES } from '../../events/types.ts';
import { KEY_TYPES } from '../../keys/api-key.ts';
import * as keys from '../../keys/key.ts';
import * as tokens from '../../keys/token.ts';
import * as keyUsage from '../../keys/usage.ts';
import * as audit from '../../projects/audit.ts';
import * as projects from '../../projects/project.ts';
import { described, wholeNumber } from '../../schema.ts';
import { ENVIRONMENTS } from '../../space.ts';
import * as webhooks from '../../webhooks/webhook.ts';
import { listOf } from '../operation.ts';
import { allOperations } from '../operations.ts';
import { PROBLEMS } from '../problems.ts';

/** An error response (RFC 9457), as lib/http/problems.ts writes it. */
const Problem = v.strictObject({
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
        v.strictObject({
          field: described(v.string(), 'The member of the body, or the parameter.'),
          detail: described(v.string(), 'The violation.'),
        }),
      ),
      'Every violation in the request. Only 400 responses can have it.',
    ),
  ),
});

const EXPORTS = Object.entries({
  ...audit,
  ...connections,
  ...deliveries,
  ...documents,
  ...events,
  ...keys,
  ...keyUsage,
  ...projects,
  ...sync,
  ...tokens,
  ...webhooks,
  AttemptResource: deliveries.AttemptResource,
  EventTypeDescription,
  StatsResource,
});

/** Every schema that an operation uses, however deep. */
function usedSchemas(): ReadonlySet<unknown> {
  const used = new Set<unknown>();
  const add = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || used.has(value)) return;
    used.add(value);
    for (const part of Object.values(value)) add(part);
  };
  for (const { body, responses } of allOperations) add([body, responses]);
  return used;
}

/** Object schemas that operations use. An exported schema is named after its export: `WebhookResource` is `Webhook`. */
function resources(): Record<string, v.GenericSchema> {
  const used = usedSchemas();
  const isNamed = (value: unknown): value is v.GenericSchema =>
    used.has(value) && /_object$/.test((value as v.GenericSchema).type);
  const named = EXPORTS.flatMap(([name, value]) =>
    isNamed(value) ? [[name.replace(/Resource$/, ''), value] as const] : [],
  );
  return { ...Object.fromEntries(named), Problem };
}
const RESOURCES = resources();

/** A page of a list is named after what it lists: `WebhookPage`. */
const PAGES = Object.fromEntries(
  Object.entries(RESOURCES).flatMap(([name, resource]) => {
    const list = listedIn(resource);
    return list ? [[`${name}Page`, list]] : [];
  }),
);

function listedIn(resource: v.GenericSchema): v.GenericSchema | undefined {
  const responses = allOperations.flatMap((operation) => Object.values(operation.responses));
  return responses.find((response) => response === listOf(resource)) ?? undefined;
}

/** The schemas that have a name in the document. */
export const NAMED: Readonly<Record<string, v.GenericSchema>> = { ...RESOURCES, ...PAGES };

/** Lists of words that have a name, wherever a member is one of them. */
export const NAMED_LISTS: Readonly<Record<string, readonly string[]>> = {
  AttemptTrigger: TRIGGERS,
  DeliveryStatus: DELIVERY_STATUSES,
  DisabledReason: webhooks.DISABLED_REASONS,
  Environment: ENVIRONMENTS,
  EventType: EVENT_TYPES,
  KeyStatus: keys.KEY_STATUSES,
  KeyType: KEY_TYPES,
  WebhookStatus: webhooks.WEBHOOK_STATUSES,
};
