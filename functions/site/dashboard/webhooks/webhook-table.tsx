import { useState } from 'preact/hooks';
import { EVENT_TYPES } from '../../../../lib/events/types.ts';
import { Badge, Button, Link, Warning } from '../components/basics.tsx';
import { BatchDialog } from '../components/batch-dialog.tsx';
import { ChosenBar, type Column, Table } from '../components/table.tsx';
import type { Webhook } from '../state/api.ts';
import { useSession } from '../state/session.ts';
import { Missed, missedBy } from './backlog.tsx';
import { isUnstable, latencyText, type Summary, successRate } from './stats.ts';
import { descriptionText, webhookName } from './webhook-text.ts';

/** The stats by webhook id. */
export type Stats = ReadonlyMap<string, Summary>;

interface StatusProps {
  of: Webhook;
  /** Its stats of the last 24 hours. */
  summary?: Summary | undefined;
}

export function WebhookStatus({ of: webhook, summary }: StatusProps) {
  const { status, disabled_reason, failing_since } = webhook;
  if (status === 'enabled' && failing_since !== null) return <Warning>failing</Warning>;
  if (status === 'enabled' && isUnstable(webhook, summary)) return <Warning>unstable</Warning>;
  if (status === 'enabled') return <Badge tone="good">enabled</Badge>;
  return disabled_reason === 'paused' ? <Badge tone="off">paused</Badge> : <Badge tone="bad">disabled</Badge>;
}

interface WebhookTableProps {
  webhooks: Webhook[];
  stats: Stats | undefined;
  onChange: () => void;
}

/**
 * Lists webhooks with the stats of the last 24 hours, which load separately. Selected webhooks can be paused or enabled together.
 * The dialog stays open when no webhook is left to list.
 */
export function WebhookTable({ webhooks, stats, onChange }: WebhookTableProps) {
  const { can } = useSession();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [changing, setChanging] = useState<StatusChange>();
  const rows = webhooks.filter(({ id }) => chosen.has(id));
  const change = (status: Webhook['status']) => {
    const others = rows.filter((webhook) => webhook.status !== status);
    return (
      <Button disabled={others.length === 0} onClick={() => setChanging({ webhooks: others, status })}>
        {status === 'enabled' ? 'Enable selected' : 'Pause selected'}
      </Button>
    );
  };
  const stat = (id: string, textOf: (summary: Summary | undefined) => string) =>
    stats ? textOf(stats.get(id)) : <span class="muted">…</span>;
  const columns: Column<Webhook>[] = [
    [
      'Endpoint',
      (webhook) => (
        <>
          <Link to={['webhooks', webhook.id]} title={webhook.url}>
            {webhookName(webhook)}
          </Link>
          {descriptionText(webhook) && <small>{webhook.url}</small>}
        </>
      ),
      'wide',
    ],
    ['Status', (webhook) => <WebhookStatus of={webhook} summary={stats?.get(webhook.id)} />],
    [
      'Events',
      ({ events }) => (
        <span title={events.join(', ')}>
          {events.length} of {EVENT_TYPES.length}
        </span>
      ),
    ],
    ['Undelivered', (webhook) => <Missed count={missedBy(webhook)} />, 'number'],
    ['Delivered, 24 h', ({ id }) => stat(id, (own) => (own?.counts.delivered ?? 0).toLocaleString()), 'number'],
    ['Success rate', ({ id }) => stat(id, (own) => (own ? successRate(own) : '–')), 'number'],
    ['p95', ({ id }) => stat(id, (own) => latencyText(own?.p95 ?? null)), 'number'],
  ];
  return (
    <>
      {webhooks.length > 0 && (
        <Table
          caption="Webhooks"
          columns={columns}
          rows={webhooks}
          keyOf={({ id }) => id}
          isDense
          {...(can('PATCH /v1/webhooks/{id}') && {
            selection: { chosen, onChange: setChosen, nameOf: ({ url }: Webhook) => url },
          })}
        />
      )}
      <ChosenBar count={rows.length}>
        {change('disabled')}
        {change('enabled')}
      </ChosenBar>
      {changing && (
        <StatusDialog
          of={changing}
          onCancel={() => setChanging(undefined)}
          onDone={() => {
            setChanging(undefined);
            setChosen(new Set());
            onChange();
          }}
        />
      )}
    </>
  );
}

/** A change of status for the selected webhooks. */
interface StatusChange {
  webhooks: readonly Webhook[];
  status: Webhook['status'];
}

interface StatusDialogProps {
  of: StatusChange;
  onCancel: () => void;
  onDone: () => void;
}

function StatusDialog({ of: { webhooks, status }, ...others }: StatusDialogProps) {
  const { call } = useSession();
  const all = webhooks.length === 1 ? '1 webhook' : `${webhooks.length} webhooks`;
  const isPause = status === 'disabled';
  return (
    <BatchDialog
      rows={webhooks}
      nameOf={({ url }) => url}
      act={({ id }) => call('PATCH /v1/webhooks/{id}', { path: { id }, body: { status } })}
      title={isPause ? `Pause ${all}?` : `Enable ${all}?`}
      action={isPause ? 'Pause' : 'Enable'}
      titles={isPause ? ['Pausing…', 'Paused'] : ['Enabling…', 'Enabled']}
      doneText={(count) => `${count} of ${all} ${isPause ? 'paused' : 'enabled'}.`}
      {...others}
    >
      <p>
        {isPause
          ? 'Nothing is sent to them until they are enabled. Events are recorded as skipped, and can be recovered for 30 days.'
          : 'They receive new events. To recover the events that a webhook missed, open its page.'}
      </p>
    </BatchDialog>
  );
}
