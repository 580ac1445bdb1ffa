import * as v from 'valibot';
import { KEY_TYPES } from '../access/api-key.ts';
import { AuditResource } from '../access/audit.ts';
import { KeyUsage } from '../access/key-usage.ts';
import {
  Allowlist,
  AllowlistResource,
  ChangeKey,
  CreatedKey,
  CreateKey,
  KEY_STATUSES,
  KeyResource,
  RotateKey,
} from '../access/keys.ts';
import { LeakMatch } from '../access/leaks.ts';
import { ChangeProject, ProjectResource } from '../access/projects.ts';
import { MintedToken, MintToken } from '../access/tokens.ts';
import { EventTypeResource } from '../api/events.ts';
import { listOf } from '../api/operation.ts';
import { allOperations } from '../api/operations.ts';
import { PROBLEMS } from '../api/problems.ts';
import { StatsResource } from '../api/stats.ts';
import { DeliveryResource } from '../deliveries/record.ts';
import { DELIVERY_STATUSES, TRIGGERS } from '../deliveries/statuses.ts';
import { ConnectionResource, RenewConnection } from '../documents/connections.ts';
import {
  ConflictResource,
  DocumentResource,
  MergedDocument,
  PatchDocument,
  PutDocument,
} from '../documents/documents.ts';
import { SyncRequest, SyncResponse } from '../documents/sync.ts';
import { EventResource, PublishEvent, PublishEvents } from '../events/events.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { described } from '../schema.ts';
import { ENVIRONMENTS } from '../space.ts';
import {
  ChangeWebhook,
  CreateWebhook,
  RotateSecret,
  TestWebhook,
  WEBHOOK_STATUSES,
  WebhookResource,
  WebhookWithSecret,
} from '../webhooks/webhooks.ts';

/** An error response (RFC 9457), as lib/api/problems.ts writes it. */
const Problem = v.strictObject({
  type: described(v.string(), 'The absolute URI of the page that explains the code.'),
  title: described(v.string(), 'The meaning of the code.'),
  status: described(v.pipe(v.number(), v.integer()), 'The HTTP status code.'),
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

const RESOURCES = {
  Allowlist,
  AuditEntry: AuditResource,
  ChangeKey,
  ChangeProject,
  ChangeWebhook,
  Conflict: ConflictResource,
  Connection: ConnectionResource,
  CreateKey,
  CreateWebhook,
  CreatedKey,
  Delivery: DeliveryResource,
  Document: DocumentResource,
  Event: EventResource,
  EventTypeDescription: EventTypeResource,
  Stats: StatsResource,
  Key: KeyResource,
  KeyUsage,
  KeyAllowlist: AllowlistResource,
  LeakMatch,
  MergedDocument,
  MintToken,
  PatchDocument,
  Problem,
  Project: ProjectResource,
  PublishEvent,
  PublishEvents,
  PutDocument,
  RenewConnection,
  RotateKey,
  RotateSecret,
  SyncResponse,
  SyncRequest,
  TestWebhook,
  Token: MintedToken,
  Webhook: WebhookResource,
  WebhookWithSecret,
} satisfies Record<string, v.GenericSchema>;

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
  DeliveryStatus: DELIVERY_STATUSES,
  Environment: ENVIRONMENTS,
  EventType: EVENT_TYPES,
  KeyStatus: KEY_STATUSES,
  KeyType: KEY_TYPES,
  Trigger: TRIGGERS,
  WebhookStatus: WEBHOOK_STATUSES,
};
