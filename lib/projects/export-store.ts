import { type Item, type ItemKey, itemKey, logPartitions } from '../aws/items.ts';
import { keysQuery, wholePartition } from '../aws/queries.ts';
import type { Query, Table } from '../aws/table.ts';
import { toDelivery } from '../deliveries/log-store.ts';
import { deliveryResource } from '../deliveries/record.ts';
import { documentResource } from '../documents/document.ts';
import { toState } from '../documents/store.ts';
import { partitionsOf } from '../events/placement.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { keyResource } from '../keys/key.ts';
import { ENVIRONMENTS, type Environment } from '../space.ts';
import { toWebhook } from '../webhooks/store.ts';
import { webhookResource } from '../webhooks/webhook.ts';
import { auditResource } from './audit.ts';
import { projectResource } from './project.ts';

/** The items of one partition of a project, and their form in an export. */
interface Section {
  id: string;
  query: Query;
  /** What each of its lines starts with. */
  head: { type: string; environment?: Environment };
  /** The data of a line, as an object or as stored JSON, or `undefined` for an item that an export omits. */
  dataOf(item: Item): object | string | undefined;
}

/** Where an export continues: after an item of a section. */
export interface ExportPosition {
  section: string;
  after?: object | undefined;
}

/**
 * The bytes of one page in the response of a function, which has at most 6 MB of JSON (Lambda quotas). A page exceeds it by less
 * than the longest line. An item has at most 400 KB. Nearly all of it is JSON text, which at most doubles as a string of JSON.
 */
const PAGE_BYTES = 4 * 1024 * 1024;
const ITEMS_OF_QUERY = 250;
/** The queries of one page, because many partitions are empty. */
const QUERIES_OF_PAGE = 100;

/**
 * Reads the next lines of an export, in the resources of the API and without secrets. It is no snapshot, because changes during an
 * export can be missing.
 */
export function projectExport(table: Table) {
  return async (
    projectId: string,
    webhookIds: readonly string[],
    position: ExportPosition | undefined,
    nowMs: number,
  ): Promise<{ lines: string[]; next: ExportPosition | undefined }> => {
    const sections = sectionsOf(projectId, webhookIds, nowMs);
    let at = position === undefined ? 0 : sections.findIndex(({ id }) => id === position.section);
    if (at < 0) throw new Error('The position is not one of this export');
    let after = position?.after;
    let bytes = 0;
    const lines: string[] = [];
    for (let queries = 0; queries < QUERIES_OF_PAGE; queries++) {
      const section = sections[at];
      if (!section) return { lines, next: undefined };
      const { items, next } = await table.query({ Limit: ITEMS_OF_QUERY, ...section.query, after });
      for (const item of items) {
        const line = lineOf(section, item);
        if (line !== undefined) {
          lines.push(line);
          bytes += Buffer.byteLength(JSON.stringify(line));
        }
        if (bytes > PAGE_BYTES) return { lines, next: { section: section.id, after: positionOf(item) } };
      }
      after = next;
      if (next === undefined) at++;
    }
    const section = sections[at];
    return { lines, next: section && { section: section.id, after } };
  };
}

/** The key of an item in the table, or in the index of the keys. */
const positionOf = ({ pk, sk, keysOf }: Item): object => ({ pk, sk, ...(keysOf !== undefined && { keysOf }) });

function sectionsOf(projectId: string, webhookIds: readonly string[], nowMs: number): Section[] {
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
      dataOf: (item) => keyResource(item as never, nowMs),
    },
    ...ENVIRONMENTS.flatMap((environment) => {
      const space = { projectId, environment };
      return [
        section({ type: 'webhook', environment }, itemKey.webhook(space, ''), (item) =>
          webhookResource(toWebhook(item)),
        ),
        section({ type: 'document', environment }, itemKey.document(space, ''), (item) =>
          item.deleted === true ? undefined : documentResource(String(item.sk), toState(item)),
        ),
        ...partitionsOf(EVENT_TYPES, undefined).map((partition) =>
          section({ type: 'event', environment }, itemKey.eventIn(space, partition, ''), ({ body }) => String(body)),
        ),
      ];
    }),
    ...webhookIds.flatMap((id) =>
      logPartitions().map((partition) =>
        section({ type: 'delivery' }, itemKey.deliveryIn(id, partition, ''), (item) =>
          deliveryResource(toDelivery(item)),
        ),
      ),
    ),
    section({ type: 'audit' }, itemKey.audit(projectId, ''), (item) => auditResource(item as never)),
  ];
}

/** A line of JSON, or `undefined` for an item that an export omits. */
function lineOf({ head, dataOf }: Section, item: Item): string | undefined {
  const data = dataOf(item);
  const json = typeof data === 'object' ? JSON.stringify(data) : data;
  return json && `${JSON.stringify(head).slice(0, -1)},"data":${json}}`;
}
