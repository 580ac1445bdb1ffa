import { useState } from 'preact/hooks';
import { ButtonLink, PageTitle, Panel } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { hasEnvironment, useKeys } from '../keys/keys.tsx';
import { all } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { useProject, useSession } from '../state/session.ts';
import { Chart, PeriodChoice } from '../webhooks/chart.tsx';
import { DeliveryStats } from '../webhooks/delivery-stats.tsx';
import { PERIODS, type PeriodName, readStats, readSummaries } from '../webhooks/stats.ts';
import { Attention } from './attention.tsx';

const REFRESH_MS = 30_000;

export function Overview() {
  const { call, environment, can } = useSession();
  const [period, setPeriod] = useState<PeriodName>('24 hours');
  const webhooks = useLoaded(environment, () => all(call, 'GET /v1/webhooks'));
  const stats = useLoaded(`${environment} ${period}`, () => readStats(call, PERIODS[period]));
  const summaries = useLoaded(environment, () => readSummaries(call, PERIODS['24 hours']));
  const project = useProject();
  const keys = useKeys();
  useRepeated(REFRESH_MS, webhooks, stats, summaries);
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
            <Panel title="Deliveries" actions={<PeriodChoice chosen={period} onChange={setPeriod} />}>
              {found.length === 0 ? (
                <Empty
                  action={
                    can('POST /v1/webhooks') && (
                      <ButtonLink to={['webhooks', 'new']} kind="primary">
                        Create webhook
                      </ButtonLink>
                    )
                  }
                >
                  No webhooks yet. A webhook notifies your server when documents change.
                </Empty>
              ) : (
                <Await of={stats}>
                  {(loaded) => (
                    <>
                      <DeliveryStats of={loaded.total} />
                      <Chart of={loaded} period={PERIODS[period]} />
                    </>
                  )}
                </Await>
              )}
            </Panel>
          </>
        )}
      </Await>
    </>
  );
}
