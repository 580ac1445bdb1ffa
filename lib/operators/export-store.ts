import { type Item, type ItemKey, itemKey } from '../aws/items.ts';
import { wholePartition } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import {
  exportSections,
  lineOf,
  positionOf,
  type Section,
  sectionsOfLog,
  toWebhookLog,
  type WebhookLog,
} from './export-section-store.ts';

/** Where an export continues: after an item of a section. In the section `logs`, the items are webhooks. */
export interface ExportPosition {
  section: string;
  /** The webhook, if the section is a part of its log. */
  webhook?: string | undefined;
  after?: object | undefined;
}

/**
 * The bytes of one page in the response of a function, which has at most 6 MB of JSON (Lambda quotas). A page exceeds it by less
 * than the longest line, or the lines of a batch of events, which come from a request of 1 MB. JSON text at most doubles as a string
 * of JSON.
 */
const PAGE_BYTES = 3 * 1024 * 1024;
const ITEMS_OF_QUERY = 250;
const ITEMS_OF_READ = 100;
/** The queries of one page, because many partitions are empty. */
const QUERIES_OF_PAGE = 500;

/** The list of webhooks, including deleted ones. Their logs come last. */
const LOGS = 'logs';
const WEBHOOKS_OF_QUERY = 10;

/**
 * Reads the next lines of an export, in the resources of the API and without secrets. It is no snapshot, because changes during an
 * export can be missing.
 */
export function projectExport(table: Table) {
  return async (
    projectId: string,
    start: ExportPosition | undefined,
    nowMs: number,
  ): Promise<{ lines: string[]; next: ExportPosition | undefined }> => {
    const ofProject = exportSections(projectId, nowMs);
    let log = start?.webhook === undefined ? undefined : await logOf(projectId, start.webhook);
    const lines: string[] = [];
    let [bytes, queries] = [0, 0];
    let position = start ?? { section: ofProject[0]?.id ?? LOGS };
    while (queries < QUERIES_OF_PAGE) {
      if (position.section === LOGS) {
        const found = await nextLog(projectId, position.after);
        queries += found.queries;
        if (found.next === undefined) return { lines, next: undefined };
        position = found.next;
        log = found.log;
        continue;
      }
      const { webhook, after } = position;
      const sections = log ? sectionsOfLog(log) : ofProject;
      const index = sections.findIndex(({ id }) => id === position.section);
      const section = sections[index];
      if (!section) throw unknown();
      const { items, next } = await table.query({ Limit: ITEMS_OF_QUERY, ...section.query, after });
      queries++;
      for await (const { item, found } of contentsOf(section, items)) {
        const ofItem = found.flatMap((each) => lineOf(section, each) ?? []);
        lines.push(...ofItem);
        for (const line of ofItem) bytes += Buffer.byteLength(JSON.stringify(line));
        if (bytes > PAGE_BYTES) return { lines, next: { ...position, after: positionOf(item) } };
      }
      position = next === undefined ? following(sections[index + 1], webhook) : { ...position, after: next };
    }
    return { lines, next: position };

    function following(section: Section | undefined, webhook: string | undefined): ExportPosition {
      if (section) return { section: section.id, webhook };
      return { section: LOGS, after: webhook === undefined ? undefined : itemKey.log(projectId, webhook) };
    }
  };

  async function logOf(projectId: string, webhookId: string): Promise<WebhookLog> {
    const item = await table.get(itemKey.log(projectId, webhookId));
    if (!item) throw unknown();
    return toWebhookLog(item);
  }

  /** Reads what each item of a section leads to, about `ITEMS_OF_READ` at a time. */
  async function* contentsOf({ leadsTo }: Section, items: readonly Item[]) {
    let part: { item: Item; keys: ItemKey[] }[] = [];
    for (const [i, item] of items.entries()) {
      part.push({ item, keys: leadsTo?.(item) ?? [] });
      const keys = part.flatMap((each) => each.keys);
      if (keys.length < ITEMS_OF_READ && i + 1 < items.length) continue;
      const found = await table.batchGet(keys);
      for (const { item, keys } of part)
        yield { item, found: leadsTo ? found.splice(0, keys.length).filter((each) => each !== undefined) : [item] };
      part = [];
    }
  }

  /** Finds the next webhook with deliveries. Most webhooks of a project can be deleted ones without any. */
  async function nextLog(
    projectId: string,
    after: object | undefined,
  ): Promise<{ next: ExportPosition | undefined; log?: WebhookLog; queries: number }> {
    const { pk } = itemKey.log(projectId, '');
    const { items, next } = await table.query({ ...wholePartition(pk), Limit: WEBHOOKS_OF_QUERY, after });
    let queries = 1;
    for (const log of items.map(toWebhookLog)) {
      const sections = sectionsOfLog(log);
      const counts = sections.map(({ query }) => table.query({ ...query, Select: 'COUNT', Limit: 1 }));
      queries += counts.length;
      const isEmpty = (await Promise.all(counts)).every(({ count }) => count === 0);
      if (!isEmpty) return { next: { section: sections[0]?.id ?? LOGS, webhook: log.webhookId }, log, queries };
    }
    return { next: next && { section: LOGS, after: next }, queries };
  }
}

const unknown = () => new Error('The position is not one of this export');
