import { useState } from 'preact/hooks';
import { type Fact, Facts, Panel } from '../components/basics.tsx';
import { Await } from '../components/feedback.tsx';
import { Time } from '../components/time.tsx';
import { latencyText } from '../overview/overview.tsx';
import type { Webhook } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';
import { Chart, PeriodChoice } from './chart.tsx';
import { PERIODS, type PeriodName, readStats, successRate } from './stats.ts';
import { WebhookStatus } from './webhook-table.tsx';

const REFRESH_MS = 30_000;

interface HealthProps {
  of: Webhook;
  /** Changes when the stats may have changed. */
  version: number;
}

/** The stats of a webhook in a period that ends now. */
export function Health({ of: webhook, version }: HealthProps) {
  const { call } = useSession();
  const [period, setPeriod] = useState<PeriodName>('24 hours');
  const read = () => readStats(call, PERIODS[period], webhook.id);
  const stats = useLoaded(`${webhook.id} ${period}`, read, version);
  useRepeated(REFRESH_MS, stats.reload);
  const total = stats.value?.total;
  return (
    <Panel title="Health" actions={<PeriodChoice chosen={period} onChange={setPeriod} />}>
      <Facts>
        {[
          ['Status', <WebhookStatus key="status" of={webhook} />],
          ...(webhook.failing_since
            ? [['Failing since', <Time key="failing" at={webhook.failing_since} />] satisfies Fact]
            : []),
          ['Success rate', total ? successRate(total) : '–'],
          ['Failed attempts', total ? total.attemptsFailed.toLocaleString() : '–'],
          ['p50', latencyText(total?.p50 ?? null)],
          ['p95', latencyText(total?.p95 ?? null)],
        ]}
      </Facts>
      <div class="small">
        <Await of={stats}>{(loaded) => <Chart of={loaded} period={PERIODS[period]} />}</Await>
      </div>
    </Panel>
  );
}
