import { useState } from 'preact/hooks';
import { DELIVERY_STATUSES, type DeliveryStatus, UNDELIVERED } from '../../../../lib/deliveries/retry-schedule.ts';
import { EVENT_TYPES } from '../../../../lib/events/types.ts';
import { Button, Panel } from '../components/basics.tsx';
import { filterOf } from '../components/document-text.ts';
import { Await, Empty } from '../components/feedback.tsx';
import { Select } from '../components/field.tsx';
import { KeyHint } from '../components/key-hint.tsx';
import type { Find } from '../components/similar-keys.ts';
import { Pager } from '../components/table.tsx';
import type { Webhook } from '../state/api.ts';
import { useRepeated } from '../state/hooks.ts';
import { goTo, linkTo, openOver, parametersOf } from '../state/router.ts';
import { useRead, useSession } from '../state/session.ts';
import { DeliveryDrawer, type DeliveryList } from './delivery-drawer.tsx';
import { DeliveryTable, keyOf } from './delivery-table.tsx';
import { EventSearch } from './event-search.tsx';
import { ExportDialog, type LogQuery } from './export-dialog.tsx';

const LOG = 'GET /v1/webhooks/{id}/deliveries';
const PAGE = '25';
const REFRESH_MS = 5000;
const EMPTY_REFRESH_MS = 30_000;
/** The statuses of a delivery that the endpoint has not received, although an attempt was due. */
const NOT_DELIVERED: readonly DeliveryStatus[] = ['retrying', ...UNDELIVERED];

const all = <Option extends string>(options: readonly Option[]) =>
  [['', 'All'], ...options.map((each) => [each, each] as const)] as const;

interface LogProps {
  webhook: Webhook;
  query: URLSearchParams;
  /** Changes when the log may have changed. */
  version: number;
  onChange: () => void;
}

/** The deliveries of a webhook, newest first. Search, filters and page are part of the URL. */
export function DeliveryLog({ webhook: { id }, query, version, onChange }: LogProps) {
  const { call, environment } = useSession();
  const [isExporting, setExporting] = useState(false);
  const filters = parametersOf(query, 'status', 'type', 'document_key', 'since', 'until');
  const { status, type, document_key: documentKey, since, until } = filters;
  const { period, cursor, delivery: open } = parametersOf(query, 'period', 'cursor', 'delivery');
  const at = (change: Record<string, string>) =>
    linkTo(environment, ['webhooks', id], { ...filters, period, ...change });
  const list: DeliveryList = { open, at: (delivery) => at({ cursor, delivery }) };
  const search = { ...filters, status: status === 'undelivered' ? [...NOT_DELIVERED] : status } as LogQuery;
  const options = { path: { id }, query: { ...search, cursor, limit: PAGE } };
  const loaded = useRead(LOG, options, version);
  const find: Find = async (key) => {
    const isSame = key === documentKey;
    if (filterOf(key).prefix) return undefined; // a log has no filter by prefix
    if (isSame && !status && !type && !since && !until) return undefined;
    const kept = isSame ? {} : search;
    const { value } = await call(LOG, { path: { id }, query: { ...kept, document_key: key, limit: '1' } });
    if (!value?.data.length) return undefined;
    const shown = { ...(isSame ? {} : { ...filters, period }), document_key: key };
    return {
      text: isSame ? `All deliveries of ${key}` : key,
      href: linkTo(environment, ['webhooks', id], shown),
    };
  };
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
        text={documentKey}
        period={{ period, since, until }}
        problem={loaded.problem}
        onSearch={(key, chosen) => goTo(at({ document_key: key, ...chosen }))}
        onEvent={(event) => openOver(list.at(event))}
      >
        <Select
          label="Status"
          value={status}
          options={[...all(DELIVERY_STATUSES), ['undelivered', 'not delivered']]}
          onChange={(chosen) => goTo(at({ status: chosen }))}
        />
        <Select
          label="Type"
          value={type}
          options={all(EVENT_TYPES)}
          onChange={(chosen) => goTo(at({ type: chosen }))}
        />
      </EventSearch>
      <Await of={loaded}>
        {({ data, next_cursor }) => (
          <>
            {data.length === 0 && (
              <Empty action={documentKey && !next_cursor && <KeyHint key={documentKey} of={documentKey} find={find} />}>
                {emptyText({ isFiltered, documentKey, hasOlder: next_cursor !== null })}
              </Empty>
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
  if (of.documentKey) return 'No deliveries of the last 30 days match. To find a test delivery, enter its event id.';
  return of.isFiltered
    ? 'No deliveries match these filters.'
    : 'No deliveries yet. Send a test event or change a document.';
}
