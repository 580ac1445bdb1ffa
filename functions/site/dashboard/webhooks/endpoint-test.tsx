import type { Attempt } from '../components/deliveries.tsx';
import { adviceOn, isSuccess, outcomeText } from '../components/deliveries.tsx';
import { Callout } from '../components/feedback.tsx';
import type { Problem, Result, Webhook } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { problemText, useSession } from '../state/session.ts';

const REFRESH_MS = 1000;

interface EndpointTest {
  /** The attempt, once it is recorded. */
  attempt?: Attempt | undefined;
  problem?: Problem | undefined;
}

/** Sends one test event when it is ready, and waits for its attempt. */
export function useEndpointTest({ id, events }: Webhook, isReady: boolean): EndpointTest {
  const { call } = useSession();
  const sent = useLoaded(`${id} ${isReady}`, async (): Promise<Result<{ event_id: string } | undefined>> => {
    if (!isReady) return { value: undefined };
    return call('POST /v1/webhooks/{id}/test', { path: { id }, body: { type: events[0] } });
  });
  const event = sent.value?.event_id;
  const attempt = useLoaded(`${id} ${event}`, async (): Promise<Result<Attempt | undefined>> => {
    if (event === undefined) return { value: undefined };
    const path = { id, event_id: event };
    const { value, problem } = await call('GET /v1/webhooks/{id}/deliveries/{event_id}', { path });
    return problem && problem.code !== 'not_found' ? { problem } : { value: value?.attempts.at(-1) };
  });
  useRepeated(event && !attempt.value ? REFRESH_MS : null, attempt);
  return { attempt: attempt.value, problem: sent.problem };
}

/** How the endpoint responds now. */
export function EndpointState({ of: { attempt, problem } }: { of: EndpointTest }) {
  const isFailing = problem !== undefined || (attempt !== undefined && !isSuccess(attempt));
  return (
    <Callout kind={isFailing ? 'warning' : 'info'}>
      <output>
        {problem ? (
          <>The endpoint was not tested. {problemText(problem)}</>
        ) : attempt ? (
          <Response to={attempt} />
        ) : (
          'Testing the endpoint with a sample event…'
        )}
      </output>
    </Callout>
  );
}

function Response({ to: attempt }: { to: Attempt }) {
  const outcome = <strong>{outcomeText(attempt)}</strong>;
  if (isSuccess(attempt)) return <>The endpoint accepts events now. A test event returned {outcome}.</>;
  return (
    <>
      The endpoint fails now. A test event {attempt.status_code === null ? 'failed:' : 'returned'} {outcome}.{' '}
      {adviceOn(attempt)} Recover anyway?
    </>
  );
}
