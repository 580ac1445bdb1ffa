import { RETRY_DELAYS_SECONDS } from '../../../../lib/delivery/schedule.ts';
import type { Delivery } from '../api.ts';
import { isSuccess, outcomeText } from '../components/deliveries.tsx';
import { Countdown, durationText, Time } from '../components/time.tsx';

type Attempt = Delivery['attempts'][number];

/** The attempts of the latest round: a redelivery begins at 1 again. */
const latestRound = (attempts: readonly Attempt[]): readonly Attempt[] =>
  attempts.slice(
    Math.max(
      0,
      attempts.findLastIndex(({ number }) => number === 1),
    ),
  );

/** Whether a redelivery has begun whose first attempt is not recorded yet: the next one is not due by the schedule. */
function isBegunAgain({ attempts, status, next_attempt_at }: Delivery): boolean {
  const last = attempts.at(-1);
  if (status !== 'retrying' || !last || !next_attempt_at) return false;
  const delay = RETRY_DELAYS_SECONDS[last.number - 1];
  if (isSuccess(last) || delay === undefined) return true;
  const byScheduleMs = Date.parse(last.at) + last.duration_ms + delay * 1000;
  return Math.abs(Date.parse(next_attempt_at) - byScheduleMs) > 1000;
}

/** The whole schedule of six attempts: those that were made, the next one, and those that may follow. */
export function Timeline({ of: delivery }: { of: Delivery }) {
  const { attempts, status, next_attempt_at } = delivery;
  const made = isBegunAgain(delivery) ? [] : latestRound(attempts);
  const next = status === 'retrying' ? made.length : -1;
  const last = made.at(-1);
  // When the attempts after the next one would be due, if each fails at once.
  let dueAt = next_attempt_at ? Date.parse(next_attempt_at) : 0;
  return (
    <ol class="timeline">
      {[0, ...RETRY_DELAYS_SECONDS].map((delay, i) => {
        const attempt = made[i];
        const isNext = i === next;
        if (i > next && next >= 0) dueAt += delay * 1000;
        const ended = !attempt && next < 0;
        const state = attempt ? (isSuccess(attempt) ? 'good' : 'bad') : isNext ? 'waiting' : 'off';
        return (
          <li key={delay} class={state} aria-current={isNext ? 'step' : undefined}>
            <span class="delay">{i === 0 ? 'At once' : `+ ${durationText(delay)}`}</span>
            <i aria-hidden="true" />
            <strong>Attempt {i + 1}</strong>
            {attempt && (
              <>
                <span>{outcomeText(attempt)}</span>
                <Time at={attempt.at} />
              </>
            )}
            {isNext && next_attempt_at && (
              <>
                <span>
                  in <Countdown to={next_attempt_at} over="a moment" />
                </span>
                <Time at={next_attempt_at} />
              </>
            )}
            {!attempt && !isNext && !ended && (
              <span class="muted">
                not before <Time at={new Date(dueAt).toISOString()} />
              </span>
            )}
            {ended && <span class="muted">{last && isSuccess(last) ? 'not needed' : 'not made'}</span>}
          </li>
        );
      })}
    </ol>
  );
}
