import { type Item, itemKey, logPartitions } from '../aws/items.ts';
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
import { type ProjectRecord, projectResource } from './project.ts';

/** The items of one partition of a project, and their form in an export. */
interface Section {
  id: string;
  query: Query;
  /** A line of JSON, or `undefined` for an item that an export omits. */
  lineOf(item: Item): string | undefined;
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
        const line = section.lineOf(item);
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
  const section = (
    type: string,
    environment: Environment | undefined,
    pk: string,
    dataOf: (item: Item) => string | undefined,
  ): Section => ({
    id: pk,
    query: wholePartition(pk),
    lineOf: lineOf(type, environment, dataOf),
  });
  const json =
    (resourceOf: (record: never) => object) =>
    (item: Item): string =>
      JSON.stringify(resourceOf(item as never));
  const spaces = ENVIRONMENTS.map((environment) => ({ projectId, environment }));
  const keys: Section = {
    id: 'keys',
    query: keysQuery(projectId),
    lineOf: lineOf('key', undefined, (item) => JSON.stringify(keyResource(item as never, nowMs))),
  };
  return [
    section(
      'project',
      undefined,
      itemKey.project(projectId).pk,
      json((project: ProjectRecord) => projectResource(project, nowMs)),
    ),
    keys,
    ...spaces.flatMap((space) => {
      const { environment } = space;
      const webhook = (item: Item) => JSON.stringify(webhookResource(toWebhook(item)));
      const document = (item: Item) =>
        item.deleted === true ? undefined : JSON.stringify(documentResource(String(item.sk), toState(item)));
      return [
        section('webhook', environment, itemKey.webhook(space, '').pk, webhook),
        section('document', environment, itemKey.document(space, '').pk, document),
        ...partitionsOf(EVENT_TYPES, undefined).map((partition) =>
          section('event', environment, itemKey.eventIn(space, partition, '').pk, ({ body }) => String(body)),
        ),
      ];
    }),
    ...webhookIds.flatMap((id) =>
      logPartitions().map((partition) =>
        section('delivery', undefined, itemKey.deliveryIn(id, partition, '').pk, (item) =>
          JSON.stringify(deliveryResource(toDelivery(item))),
        ),
      ),
    ),
    section('audit', undefined, itemKey.audit(projectId, '').pk, json(auditResource)),
  ];
}

const lineOf =
  (type: string, environment: Environment | undefined, dataOf: (item: Item) => string | undefined) =>
  (item: Item): string | undefined => {
    const data = dataOf(item);
    const head = JSON.stringify({ type, ...(environment && { environment }) }).slice(0, -1);
    return data && `${head},"data":${data}}`;
  };
