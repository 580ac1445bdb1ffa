import { useState } from 'preact/hooks';
import { DELIVERY_STATUSES } from '../../../../lib/deliveries/retry-schedule.ts';
import { EVENT_TYPES } from '../../../../lib/events/types.ts';
import { Button, Panel } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Select } from '../components/field.tsx';
import { Pager } from '../components/table.tsx';
import { serverNow, type Webhook } from '../state/api.ts';
import { useRepeated } from '../state/hooks.ts';
import { goTo, linkTo, openOver, parametersOf } from '../state/router.ts';
import { useRead, useSession } from '../state/session.ts';
import { DeliveryDrawer, type DeliveryList } from './delivery-drawer.tsx';
import { DeliveryTable, keyOf } from './delivery-table.tsx';
import { EventSearch } from './event-search.tsx';
import { ExportDialog, type LogQuery } from './export-dialog.tsx';

const PAGE = '25';
const REFRESH_MS = 5000;
const EMPTY_REFRESH_MS = 30_000;
const SPANS = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const;
/** The option for a span of the chart, which no other option has. */
const CHOSEN_SPAN = 'span';
const SPAN_TIME = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});
const spanText = (since: string, until: string): string =>
  SPAN_TIME.formatRange(Date.parse(since) || 0, Date.parse(until) || 0);
const all = <Option extends string>(options: readonly Option[]) =>
  [['', 'All'], ...options.map((each) => [each, each] as const)] as const;

// The URL holds the resulting time: a cursor is valid only with the filters it came with.
const hoursAgo = (hours: string): string =>
  hours === '' ? '' : new Date(serverNow() - Number(hours) * 3_600_000).toISOString();

interface LogProps {
  webhook: Webhook;
  query: URLSearchParams;
  /** Changes when the log may have changed. */
  version: number;
  onChange: () => void;
}

/** The deliveries of a webhook, newest first. Search, filters and page are part of the URL. */
export function DeliveryLog({ webhook: { id }, query, version, onChange }: LogProps) {
  const { environment } = useSession();
  const [isExporting, setExporting] = useState(false);
  const filters = parametersOf(query, 'status', 'type', 'document_key', 'since', 'until');
  const { status, type, document_key: documentKey, since, until } = filters;
  const { hours, cursor, delivery: open } = parametersOf(query, 'hours', 'cursor', 'delivery');
  const at = (change: Record<string, string>) =>
    linkTo(environment, ['webhooks', id], { ...filters, hours, ...change });
  const list: DeliveryList = { open, at: (delivery) => at({ cursor, delivery }) };
  const search = filters as LogQuery;
  const options = { path: { id }, query: { ...search, cursor, limit: PAGE } };
  const loaded = useRead('GET /v1/webhooks/{id}/deliveries', options, version);
  const isFiltered = Boolean(status || type || since || until || cursor);
  // Empty results take the longest to find.
  const everyMs = loaded.value?.data.length === 0 && type ? EMPTY_REFRESH_MS : REFRESH_MS;
  useRepeated(cursor === '' ? everyMs : null, loaded);
  return (
    <Panel
      title="Deliveries"
      actions={
        <>
          <Button onClick={() => setExporting(true)}>Export</Button>
          <Button onClick={onChange}>Refresh</Button>
        </>
      }
    >
      <EventSearch
        documentKey={documentKey}
        problem={loaded.problem}
        onDocument={(key) => goTo(at({ document_key: key }))}
        onEvent={(event) => openOver(list.at(event))}
      >
        <Select
          label="Status"
          value={status}
          options={all(DELIVERY_STATUSES)}
          onChange={(chosen) => goTo(at({ status: chosen }))}
        />
        <Select
          label="Type"
          value={type}
          options={all(EVENT_TYPES)}
          onChange={(chosen) => goTo(at({ type: chosen }))}
        />
        <Select
          label="Time"
          value={until ? CHOSEN_SPAN : hours}
          options={until ? [[CHOSEN_SPAN, spanText(since, until)], ...SPANS] : SPANS}
          onChange={(chosen) => goTo(at({ hours: chosen, since: hoursAgo(chosen), until: '' }))}
        />
      </EventSearch>
      <Await of={loaded}>
        {({ data, next_cursor }) => (
          <>
            {data.length === 0 && (
              <Empty>{emptyText({ isFiltered, documentKey, hasOlder: next_cursor !== null })}</Empty>
            )}
            <DeliveryTable key={JSON.stringify(options)} deliveries={data} list={list} onChange={loaded.reload} />
            <Pager cursor={cursor} next={next_cursor} at={at} />
          </>
        )}
      </Await>
      {isExporting && <ExportDialog of={id} query={search} onClose={() => setExporting(false)} />}
      {open && (
        <DeliveryDrawer
          webhookId={id}
          eventId={open}
          list={list}
          keys={loaded.value?.data.map(keyOf) ?? []}
          onChange={loaded.reload}
        />
      )}
    </Panel>
  );
}

function emptyText(of: { isFiltered: boolean; documentKey: string; hasOlder: boolean }): string {
  if (of.hasOlder) return 'None of the latest deliveries match. There are older ones.';
  if (of.documentKey)
    return 'No matching deliveries of this document in the last 30 days. To find a test delivery, enter its event id.';
  return of.isFiltered
    ? 'No deliveries match these filters.'
    : 'No deliveries yet. Send a test event or change a document.';
}
