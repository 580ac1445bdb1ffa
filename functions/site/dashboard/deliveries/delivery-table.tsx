import { useState } from 'preact/hooks';
import { timeOf } from '../../../../lib/id-time.ts';
import { Button, Link } from '../components/basics.tsx';
import { BatchDialog } from '../components/batch-dialog.tsx';
import { OUTCOME_COLUMNS } from '../components/deliveries.tsx';
import { DocumentLink } from '../components/document-link.tsx';
import { ChosenBar, type Column, Table } from '../components/table.tsx';
import { ShortTime } from '../components/time.tsx';
import type { Delivery } from '../state/api.ts';
import { useSession } from '../state/session.ts';
import { type DeliveryList, openingOf } from './delivery-drawer.tsx';
import { REDELIVER } from './repair.tsx';

/** The time of an event, by which lists of deliveries are sorted. */
export const eventTimeOf = (eventId: string): string => new Date(timeOf(eventId)).toISOString();

export const keyOf = ({ event_id }: Delivery): string => event_id;
const nameOf = ({ event_type, event_id }: Delivery): string => `${event_type} ${event_id}`;
const countText = ({ length }: readonly Delivery[]): string => (length === 1 ? '1 delivery' : `${length} deliveries`);

interface TableProps {
  deliveries: Delivery[];
  list: DeliveryList;
  onChange: () => void;
}

/** One row per delivery. Selected deliveries can be redelivered together. Their dialog stays when the last row leaves the list. */
export function DeliveryTable({ deliveries, list, onChange }: TableProps) {
  const { call, can } = useSession();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [sending, setSending] = useState<Delivery[]>();
  const columns: Column<Delivery>[] = [
    [
      'Event',
      ({ webhook_id, event_id, event_type, test }) => (
        <>
          <Link to={['webhooks', webhook_id, 'deliveries', event_id]} title={event_id}>
            {event_type}
          </Link>
          {test && <small> test</small>}
        </>
      ),
    ],
    ['Document', ({ document_key }) => <DocumentLink to={document_key} />, 'wide'],
    ['Event time', ({ event_id }) => <ShortTime at={eventTimeOf(event_id)} />, 'number'],
    ...OUTCOME_COLUMNS,
  ];
  const rows = deliveries.filter(({ event_id }) => chosen.has(event_id));
  return (
    <>
      {deliveries.length > 0 && (
        <Table
          caption="Deliveries"
          columns={columns}
          rows={deliveries}
          keyOf={keyOf}
          isDense
          opening={openingOf(list)}
          {...(can(REDELIVER) && { selection: { chosen, onChange: setChosen, nameOf } })}
        />
      )}
      <ChosenBar count={rows.length}>
        <Button onClick={() => setSending(rows)}>Redeliver selected</Button>
      </ChosenBar>
      {sending && (
        <BatchDialog
          rows={sending}
          nameOf={nameOf}
          act={({ webhook_id: id, event_id }) => call(REDELIVER, { path: { id, event_id } })}
          title={`Redeliver ${countText(sending)}?`}
          action="Redeliver"
          titles={['Redelivering…', 'Redelivery']}
          doneText={(count) => `${count} of ${countText(sending)} queued.`}
          onCancel={() => setSending(undefined)}
          onDone={() => {
            setSending(undefined);
            setChosen(new Set());
            onChange();
          }}
        >
          <p>
            Each event is sent again to this webhook, on the full retry schedule
            {sending.some(({ test }) => test) && ', except test events, which are not retried'}.
          </p>
        </BatchDialog>
      )}
    </>
  );
}
