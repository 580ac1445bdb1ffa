import { useState } from 'preact/hooks';
import { PERIODS, type PeriodName, readActivity, readSummary, successRate } from '../activity.ts';
import type { Webhook } from '../api.ts';
import { type Fact, Facts, Panel } from '../components/basics.tsx';
import { Await } from '../components/feedback.tsx';
import { Time } from '../components/time.tsx';
import { useLoaded, useRepeated } from '../hooks.ts';
import { useSession } from '../session.ts';
import { Chart, PeriodChoice } from './chart.tsx';
import { latencyText } from './overview.tsx';
import { WebhookStatus } from './webhooks.tsx';

const REFRESH_MS = 30_000;

interface HealthProps {
  of: Webhook;
  /** Changes when the figures may have changed. */
  version: number;
}

/** How deliveries to a webhook went in a period that ends now. */
export function Health({ of: webhook, version }: HealthProps) {
  const { call } = useSession();
  const [period, setPeriod] = useState<PeriodName>('24 hours');
  const key = `${webhook.id} ${period}`;
  const summary = useLoaded(key, () => readSummary(call, webhook.id, PERIODS[period]), version);
  const activity = useLoaded(key, () => readActivity(call, PERIODS[period], webhook.id), version);
  useRepeated(REFRESH_MS, () => {
    summary.reload();
    activity.reload();
  });
  const { value } = summary;
  return (
    <Panel title="Health" actions={<PeriodChoice chosen={period} onChange={setPeriod} />}>
      <Facts>
        {[
          ['Status', <WebhookStatus key="status" of={webhook} />],
          ...(webhook.failing_since
            ? [['Failing since', <Time key="failing" at={webhook.failing_since} />] satisfies Fact]
            : []),
          ['Success rate', value ? successRate(value) : '–'],
          ['Failed attempts', value ? value.attemptsFailed.toLocaleString() : '–'],
          ['p50', latencyText(value?.p50 ?? null)],
          ['p95', latencyText(value?.p95 ?? null)],
        ]}
      </Facts>
      <div class="small">
        <Await of={activity}>{(found) => <Chart of={found} period={PERIODS[period]} />}</Await>
      </div>
    </Panel>
  );
}
