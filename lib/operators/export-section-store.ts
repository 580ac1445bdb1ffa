import { auditResource } from '../audit/audit.ts';
import { type Item, type ItemKey, itemKey, keyOf, logPartitions } from '../aws/items.ts';
import { typePartitions } from '../aws/partitions.ts';
import { keysQuery, typeQuery, wholePartition } from '../aws/queries.ts';
import type { Query } from '../aws/table.ts';
import { toDelivery } from '../deliveries/log-store.ts';
import { deliveryResource, ofDeletedWebhook } from '../deliveries/record.ts';
import { documentResource } from '../documents/document.ts';
import { toState } from '../documents/store.ts';
import { keysOfEntry } from '../events/store.ts';
import { isKept, keyResource } from '../keys/key.ts';
import { projectResource } from '../projects/project.ts';
import { ENVIRONMENTS, type Environment } from '../space.ts';
import { toWebhook } from '../webhooks/store.ts';
import { webhookData } from '../webhooks/webhook.ts';

/** The items of one partition of a project, and their form in an export. */
export interface Section {
  id: string;
  query: Query;
  /** The keys of the items that an item of the query leads to, in place of itself. */
  leadsTo?(item: Item): ItemKey[];
  /** What each of its lines starts with. */
  head: { type: string; environment?: Environment };
  /** The data of a line, as an object or as stored JSON, or `undefined` for an item that an export omits. */
  dataOf(item: Item): object | string | undefined;
}

/** The log of a webhook, which can be deleted. */
export interface WebhookLog {
  webhookId: string;
  isDeleted: boolean;
}

/** A log in the list of webhooks. Only those of deleted ones expire. */
export const toWebhookLog = ({ sk, expires }: Item): WebhookLog => ({
  webhookId: String(sk),
  isDeleted: expires !== undefined,
});

/** The sections of a project, in order. After them come the logs of its webhooks. */
export function exportSections(projectId: string, nowMs: number): Section[] {
  const section = (head: Section['head'], { pk }: ItemKey, dataOf: Section['dataOf']): Section => ({
    id: pk,
    query: wholePartition(pk),
    head,
    dataOf,
  });
  return [
    section({ type: 'project' }, itemKey.project(projectId), (item) => projectResource(item as never, nowMs)),
    {
      id: 'keys',
      query: keysQuery(projectId),
      head: { type: 'key' },
      dataOf: (item) => (isKept(item, nowMs) ? keyResource(item as never, nowMs) : undefined),
    },
    section({ type: 'audit' }, itemKey.audit(projectId, ''), (item) => auditResource(item as never)),
    ...ENVIRONMENTS.flatMap((environment) => {
      const space = { projectId, environment };
      return [
        section({ type: 'webhook', environment }, itemKey.webhook(space, ''), (item) => webhookData(toWebhook(item))),
        section({ type: 'document', environment }, itemKey.document(space, ''), (item) =>
          item.deleted === true ? undefined : documentResource(String(item.sk), toState(item)),
        ),
        ...typePartitions(space).map(
          (partition): Section => ({
            id: partition,
            query: typeQuery(partition),
            leadsTo: (entry) => keysOfEntry(entry).map(keyOf).reverse(),
            head: { type: 'event', environment },
            dataOf: ({ body }) => String(body),
          }),
        ),
      ];
    }),
  ];
}

/** The sections of the log of a webhook, in order. */
export const sectionsOfLog = ({ webhookId, isDeleted }: WebhookLog): Section[] =>
  logPartitions().map((partition) => {
    const { pk } = itemKey.deliveryIn(webhookId, partition, '');
    const recordOf = isDeleted ? (item: Item) => ofDeletedWebhook(toDelivery(item)) : toDelivery;
    const dataOf = (item: Item) => deliveryResource(recordOf(item));
    return { id: pk, query: wholePartition(pk), head: { type: 'delivery' }, dataOf };
  });

/** A line of JSON, or `undefined` for an item that an export omits. */
export function lineOf({ head, dataOf }: Section, item: Item): string | undefined {
  const data = dataOf(item);
  const json = typeof data === 'object' ? JSON.stringify(data) : data;
  return json && `${JSON.stringify(head).slice(0, -1)},"data":${json}}`;
}

/** The key of an item in the table, or in the index that was read. */
export const positionOf = ({ pk, sk, keysOf, byType }: Item): object => ({
  ...{ pk, sk },
  ...(keysOf !== undefined && { keysOf }),
  ...(byType !== undefined && { byType }),
});
