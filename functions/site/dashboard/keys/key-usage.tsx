import { Bars } from '../components/bars.tsx';
import { Panel } from '../components/basics.tsx';
import { Await } from '../components/feedback.tsx';
import { useRead } from '../state/session.ts';

const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Shows the days on which a key was used, with the number of hours. */
export function KeyUsage({ id }: { id: string }) {
  const loaded = useRead('GET /v1/keys/{key}/usage', { path: { key: id } });
  return (
    <Panel title="Usage">
      <Await of={loaded}>
        {({ days }) => {
          const used = days.filter(({ active_hours }) => active_hours > 0).length;
          if (used === 0) return <p class="muted">Not used in the last {days.length} days.</p>;
          const bars = days.map(({ date, active_hours }) => ({
            label: DAY.format(Date.parse(date)),
            values: [active_hours],
          }));
          return (
            <Bars kinds={[['active', 'Active hours']]} bars={bars.reverse()} max={24}>
              <p class="muted">
                Used on {used} of the last {days.length} days. A bar is the number of hours of a day (UTC) in which a
                request with the key, one of its tokens or one of its dashboard links was accepted.
              </p>
            </Bars>
          );
        }}
      </Await>
    </Panel>
  );
}
