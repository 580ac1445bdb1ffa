import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { StreamRecord } from 'aws-lambda';
import type { DeliveryStatus } from '../deliveries/retry-schedule.ts';
import type { Period } from '../deliveries/stats.ts';
import type { ItemKind } from '../deployment.ts';
import { partitionOf } from '../events/placement.ts';
import type { EventType } from '../events/types.ts';
import { ID_ALPHABET } from '../id-time.ts';
import { bucketOf } from '../ids.ts';
import { iso } from '../schema.ts';
import type { Space } from '../space.ts';

/*
 * The access patterns of the table:
 *   project               GetItem   PROJECT#<prj>            PROJECT
 *   emails of a project   GetItem   EMAILS#<prj>             EMAILS       (their budget, emails/email-budget.ts)
 *   all projects          Query     PROJECTS#ALL             <prj>        (for operators)
 *   key of a credential   GetItem   KEY#<key>                KEY          (with its project, once per request, keys/store.ts)
 *   keys of a project     Query     index by_project: keysOf = <prj>, pk
 *   its usable keys       GetItem   KEYS#<prj>               USABLE       (at most 1,000, keys/usable-keys.ts)
 *   keys of its tokens    Query     KEYS#<prj>               <key>        (public, keys/token-keys-store.ts)
 *   webhooks of a space   Query     HOOKS#<prj>#<env>        <whk>
 *   logs of a project     Query     LOGS#<prj>               <whk>        (also of deleted webhooks, webhooks/store.ts)
 *   event                 GetItem   EVENT#<prj>#<env>#<partition> <evt>   (its insertion feeds the stream)
 *   events of a document  Query     EVENT#<prj>#<env>#<partition> <evt>   (newest first, events/placement.ts)
 *   events by type        Query     index by_type: byType = <prj>#<env>#<type>, sk (newest first)
 *   audit log             Query     AUDIT#<prj>              <aud>        (newest first, since a time)
 *   delivery              GetItem   HOOK#<whk>#<partition>   <evt>        (its changes feed the stats through the stream)
 *   deliveries            Query     HOOK#<whk>#<partition>   <evt>        (newest first, LOG_PARTITIONS below)
 *   stats of a webhook    Query     FIGURES#<whk>            <hour or day>#<its start>
 *   its undelivered ones  Query     FIGURES#<whk>            backlog#<day> (by the day of their events)
 *   rate limit            GetItem   SLOTS#<whk>              SLOTS        (only of webhooks with a limit)
 *   recovery of a webhook GetItem   RECOVERY#<whk>           RECOVERY     (the current or last one)
 *   not delivered         Query     index by_status: byStatus = <whk>#<status>#<partition>, sk
 *   document              GetItem   DOCS#<prj>#<env>         <document_key> (deleted documents stay as stubs)
 *   documents by prefix   Query     DOCS#<prj>#<env>         begins_with(<prefix>)
 *   revisions by prefix   Query     REVISIONS#<prj>#<env>    begins_with(<prefix>)   (small, written with their documents)
 *   recent changes        Query     CHANGES#<prj>#<env>#<partition> <time>#<document_key>   (documents/change-log.ts)
 *   connection            GetItem   CONNECTION#<prj>#<env>#<partition>    <id>
 *   lease of an engine    GetItem   ENGINE#<prj>#<env>#<partition>        <engine>
 *   its connections       Query     ENGINE#<prj>#<env>#<partition>        <engine>#<session>#<id>
 *   sync cycle            GetItem   SYNC#<prj>#<env>#<partition>          <syn>      (written once, and at its end)
 *   result of a push      GetItem   SYNC#<prj>#<env>#<partition>          <syn>#PUSH#<page>#<position>
 *   idempotency record    GetItem   IDEMPOTENCY#<prj>#<env>#<partition>   <hash>
 *   count of webhooks     GetItem   COUNT#<prj>#<env>        WEBHOOKS
 *   deletion of a project GetItem   DELETION#<prj>           DELETION     (stays after the deletion)
 *   layout of the items   GetItem   VERSION#LAYOUT           VERSION      (once per execution environment, layout.ts)
 *
 * Queries find every item of a project, so that it can be deleted: `partitions.ts` names the partitions of each kind.
 */
export interface ItemKey {
  pk: string;
  sk: string;
}
export type Item = Record<string, unknown>;

export const keyOf = ({ pk, sk }: Item): ItemKey => ({ pk: String(pk), sk: String(sk) });

const spaceOf = ({ projectId, environment }: Space): string => `${projectId}#${environment}`;

const key = (kind: ItemKind, id: string, sk: string): ItemKey => ({ pk: `${kind}#${id}`, sk });

export const itemKey = {
  project: (projectId: string) => key('PROJECT', projectId, 'PROJECT'),
  listedProject: (projectId: string) => key('PROJECTS', 'ALL', projectId),
  emails: (projectId: string) => key('EMAILS', projectId, 'EMAILS'),
  key: (keyId: string) => key('KEY', keyId, 'KEY'),
  usableKeys: (projectId: string) => key('KEYS', projectId, 'USABLE'),
  tokenKey: (projectId: string, keyId: string) => key('KEYS', projectId, keyId),
  audit: (projectId: string, id: string) => key('AUDIT', projectId, id),
  webhook: (space: Space, id: string) => key('HOOKS', spaceOf(space), id),
  log: (projectId: string, webhookId: string) => key('LOGS', projectId, webhookId),
  webhookCount: (space: Space) => key('COUNT', spaceOf(space), 'WEBHOOKS'),
  event: (space: Space, id: string) => itemKey.eventIn(space, partitionOf(id), id),
  eventIn: (space: Space, partition: string, id: string) => key('EVENT', `${spaceOf(space)}#${partition}`, id),
  delivery: (webhookId: string, eventId: string) => itemKey.deliveryIn(webhookId, logPartitionOf(eventId), eventId),
  deliveryIn: (webhookId: string, partition: string, eventId: string) =>
    key('HOOK', `${webhookId}#${partition}`, eventId),
  stats: (webhookId: string, period: Period, atMs: number) => key('FIGURES', webhookId, `${period}#${iso(atMs)}`),
  backlog: (webhookId: string, dayMs: number) => key('FIGURES', webhookId, `backlog#${iso(dayMs)}`),
  slots: (webhookId: string) => key('SLOTS', webhookId, 'SLOTS'),
  recovery: (webhookId: string) => key('RECOVERY', webhookId, 'RECOVERY'),
  document: (space: Space, documentKey: string) => key('DOCS', spaceOf(space), documentKey),
  revision: (space: Space, documentKey: string) => key('REVISIONS', spaceOf(space), documentKey),
  change: (space: Space, partition: string, entry: string) => key('CHANGES', `${spaceOf(space)}#${partition}`, entry),
  connection: (space: Space, id: string) => key('CONNECTION', spread(space, id), id),
  engine: (space: Space, id: string) => key('ENGINE', spread(space, id), id),
  engineConnection: (space: Space, engineId: string, session: string, id: string) =>
    key('ENGINE', spread(space, id), `${engineId}#${session}#${id}`),
  sync: (space: Space, id: string) => key('SYNC', spread(space, id), id),
  push: (space: Space, syncId: string, page: number, position: number) =>
    key('SYNC', spread(space, syncId), `${syncId}#PUSH#${page}#${position}`),
  deletion: (projectId: string) => key('DELETION', projectId, 'DELETION'),
  idempotency: (space: Space, hash: string) => key('IDEMPOTENCY', spread(space, hash), hash),
};

/**
 * The partitions of the delivery log of a webhook. Together they support 16,000 writes of 1 KB per second (DynamoDB quotas). A
 * list reads all of them.
 */
export const LOG_PARTITIONS = 16;

/** The partition of a delivery in the log of a webhook. */
export const logPartitionOf = (eventId: string): string => partition(bucketOf(eventId, LOG_PARTITIONS));

export const logPartitions = (): string[] => partitions(LOG_PARTITIONS);

/** The partitions of items that requests write under an id of the caller, so that a project can write 16,000 of them per second. */
const SPREAD_PARTITIONS = 16;

const spread = (space: Space, id: string): string => `${spaceOf(space)}#${partition(bucketOf(id, SPREAD_PARTITIONS))}`;

/** The ends of the partition keys of such items in a space. */
export const spreadPartitions = (space: Space): string[] =>
  partitions(SPREAD_PARTITIONS).map((each) => `${spaceOf(space)}#${each}`);

/** The partitions of the connections of all engines of a space. */
export const enginePartitions = (space: Space): string[] => spreadPartitions(space).map((end) => `ENGINE#${end}`);

const partition = (bucket: number): string => ID_ALPHABET[bucket] as string;

const partitions = (count: number): string[] => Array.from({ length: count }, (_, bucket) => partition(bucket));

/**
 * The entry of a delivery in the index by status. A delivery that succeeds in its first attempt has none, so it costs no write
 * there.
 */
export const statusIndexEntry = (webhookId: string, eventId: string, status: DeliveryStatus) => ({
  byStatus: status === 'succeeded' ? undefined : statusPartition(webhookId, logPartitionOf(eventId), status),
});

/** The index key for the events of one type, or of tests. */
export const typePartition = (space: Space, type: EventType | 'test'): string => `${spaceOf(space)}#${type}`;

/** The index key for the deliveries in one partition of a log with one status. */
export const statusPartition = (webhookId: string, partition: string, status: DeliveryStatus): string =>
  `${webhookId}#${status}#${partition}`;

/** DynamoDB's time to live is in seconds. DynamoDB deletes late, so readers compare the time themselves. */
export const timeToLive = (atMs: number): number => Math.ceil(atMs / 1000);

/** Decodes an image of an item in a record of a stream. The types of the SDK and of events differ, but the JSON is the same. */
export const streamItem = (image: NonNullable<StreamRecord['NewImage']>): Item =>
  unmarshall(image as Parameters<typeof unmarshall>[0]) as Item;
