import { useState } from 'preact/hooks';
import { Confirm } from '../components/dialog.tsx';
import { download } from '../components/download.ts';
import { Select } from '../components/field.tsx';
import { type Delivery, type QueryOf, readPages } from '../state/api.ts';
import { useIsLeft } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';
import { csv } from './csv.ts';
import { eventTimeOf } from './delivery-table.tsx';

/** The maximum number of deliveries in a file. Reading them takes some seconds. */
const MAX_EXPORTED = 2000;
const NO_MORE = { value: { data: [], next_cursor: null } };

export type LogQuery = Omit<QueryOf<'GET /v1/webhooks/{id}/deliveries'>, 'cursor' | 'limit'>;
type Format = 'CSV' | 'JSON';

const COLUMNS: Record<string, (delivery: Delivery) => string | number | null> = {
  event_id: ({ event_id }) => event_id,
  event_type: ({ event_type }) => event_type,
  event_time: ({ event_id }) => eventTimeOf(event_id),
  document_key: ({ document_key }) => document_key,
  status: ({ status }) => status,
  reason: ({ reason }) => reason,
  attempts: ({ attempts }) => attempts.length,
  last_status_code: ({ attempts }) => attempts.at(-1)?.status_code ?? null,
  last_error: ({ attempts }) => attempts.at(-1)?.error ?? null,
  last_duration_ms: ({ attempts }) => attempts.at(-1)?.duration_ms ?? null,
  last_attempt_at: ({ last_attempt_at }) => last_attempt_at,
  next_attempt_at: ({ next_attempt_at }) => next_attempt_at,
};

/** Saves the deliveries that a log shows, newest first, as a file. */
export function ExportDialog({ of: id, query, onClose }: { of: string; query: LogQuery; onClose: () => void }) {
  const { call, announce } = useSession();
  const [format, setFormat] = useState<Format>('CSV');
  const isLeft = useIsLeft(); // the user canceled it, or left the page
  const readPage = async (cursor: string | undefined) =>
    isLeft.current
      ? NO_MORE
      : call('GET /v1/webhooks/{id}/deliveries', { path: { id }, query: { ...query, cursor, limit: '100' } });
  const save = (read: Delivery[]) => {
    if (isLeft.current) return;
    const deliveries = read.slice(0, MAX_EXPORTED);
    const rows = deliveries.map((delivery) => Object.values(COLUMNS).map((cell) => cell(delivery)));
    if (format === 'CSV') download(`deliveries-${id}.csv`, csv([Object.keys(COLUMNS), ...rows]), 'text/csv');
    else download(`deliveries-${id}.json`, JSON.stringify(deliveries, null, 2), 'application/json');
    announce(
      deliveries.length === 1 ? '1 delivery exported.' : `${deliveries.length.toLocaleString()} deliveries exported.`,
    );
    onClose();
  };
  return (
    <Confirm
      title="Export deliveries"
      action="Export"
      act={() => readPages(readPage, MAX_EXPORTED)}
      onDone={save}
      onClose={onClose}
      awaitsResponse={false}
    >
      <p>Those that match the filters, newest first: at most {MAX_EXPORTED.toLocaleString()}.</p>
      <Select
        label="Format"
        value={format}
        options={(['CSV', 'JSON'] as const).map((each) => [each, each] as const)}
        onChange={(chosen) => setFormat(chosen as Format)}
      />
    </Confirm>
  );
}
