import { useState } from 'preact/hooks';
import { Panel } from '../components/basics.tsx';
import { Await } from '../components/feedback.tsx';
import { Elapsed } from '../components/time.tsx';
import type { Webhook } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { UndeliveredNow } from './backlog.tsx';
import { Chart, PeriodChoice } from './chart.tsx';
import { DeliveryStats } from './delivery-stats.tsx';
import { LastRecovery } from './last-recovery.tsx';
import { isPaused, PERIODS, type PeriodName, readStats } from './stats.ts';
import { WebhookStatus } from './webhook-table.tsx';

const REFRESH_MS = 30_000;

interface HealthProps {
  of: Webhook;
  /** Changes when the stats may have changed. */
  version: number;
}

/** The stats of a webhook in a period that ends now. */
export function Health({ of: webhook, version }: HealthProps) {
  const { call, environment } = useSession();
  const [period, setPeriod] = useState<PeriodName>('24 hours');
  const pausedIds = isPaused(webhook) ? [webhook.id] : [];
  const read = () => readStats(call, PERIODS[period], { webhookId: webhook.id, pausedIds });
  const stats = useLoaded(`${webhook.id} ${period} ${pausedIds}`, read, version);
  useRepeated(REFRESH_MS, stats);
  const since = webhook.status === 'disabled' ? webhook.disabled_at : webhook.failing_since;
  const logOf = (from: number, until: number) =>
    linkTo(environment, ['webhooks', webhook.id], { since: iso(from), until: iso(until) });
  return (
    <Panel title="Health" actions={<PeriodChoice chosen={period} onChange={setPeriod} />}>
      <DeliveryStats of={stats.value?.total}>
        <div>
          <dt>Status</dt>
          <dd>
            <WebhookStatus of={webhook} summary={period === '24 hours' ? stats.value?.total : undefined} />{' '}
            {since && (
              <small>
                for <Elapsed since={since} />
              </small>
            )}
          </dd>
        </div>
        <UndeliveredNow of={[webhook]} />
      </DeliveryStats>
      <LastRecovery of={webhook.id} version={version} />
      <div class="small">
        <Await of={stats}>{(loaded) => <Chart of={loaded} period={PERIODS[period]} hrefOf={logOf} />}</Await>
      </div>
    </Panel>
  );
}

const iso = (ms: number): string => new Date(ms).toISOString();
