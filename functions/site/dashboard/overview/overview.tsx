import { useState } from 'preact/hooks';
import { ButtonLink, PageTitle, Panel } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { hasEnvironment, useKeys } from '../keys/keys.tsx';
import { all, type Webhook } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { useProject, useSession } from '../state/session.ts';
import { UndeliveredNow } from '../webhooks/backlog.tsx';
import { Chart, PeriodChoice } from '../webhooks/chart.tsx';
import { DeliveryStats } from '../webhooks/delivery-stats.tsx';
import { isPaused, PERIODS, type PeriodName, readStats, readSummaries } from '../webhooks/stats.ts';
import { Attention } from './attention.tsx';

const REFRESH_MS = 30_000;

export function Overview() {
  const { call, environment } = useSession();
  const webhooks = useLoaded(environment, () => all(call, 'GET /v1/webhooks'));
  const summaries = useLoaded(environment, () => readSummaries(call, PERIODS['24 hours']));
  const project = useProject();
  const keys = useKeys();
  useRepeated(REFRESH_MS, webhooks, summaries);
  return (
    <>
      <PageTitle>Overview</PageTitle>
      <Await of={webhooks}>
        {(found) => (
          <>
            <Panel title="Needs attention">
              <Await of={keys}>
                {(every) => (
                  <Attention
                    webhooks={found}
                    summaries={summaries.value}
                    keys={every.filter(({ type }) => hasEnvironment(type, environment))}
                    project={project.value}
                  />
                )}
              </Await>
              <Await of={summaries}>{() => null}</Await>
              <Await of={project}>{() => null}</Await>
            </Panel>
            <Deliveries of={found} />
          </>
        )}
      </Await>
    </>
  );
}

/** The stats of all webhooks in a period that ends now. */
function Deliveries({ of: webhooks }: { of: readonly Webhook[] }) {
  const { call, environment, can } = useSession();
  const [period, setPeriod] = useState<PeriodName>('24 hours');
  const pausedIds = webhooks.filter(isPaused).map(({ id }) => id);
  const read = () => readStats(call, PERIODS[period], { pausedIds });
  const stats = useLoaded(`${environment} ${period} ${pausedIds}`, read);
  useRepeated(REFRESH_MS, stats);
  const create = can('POST /v1/webhooks') && (
    <ButtonLink to={['webhooks', 'new']} kind="primary">
      Create Webhook
    </ButtonLink>
  );
  return (
    <Panel title="Deliveries" actions={<PeriodChoice chosen={period} onChange={setPeriod} />}>
      {webhooks.length === 0 ? (
        <Empty action={create}>No webhooks yet. A webhook notifies your server when documents change.</Empty>
      ) : (
        <Await of={stats}>
          {(loaded) => (
            <>
              <DeliveryStats of={loaded.total}>
                <UndeliveredNow of={webhooks} />
              </DeliveryStats>
              <Chart of={loaded} period={PERIODS[period]} />
            </>
          )}
        </Await>
      )}
    </Panel>
  );
}
