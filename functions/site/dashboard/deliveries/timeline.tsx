import { isUnderWay, RETRY_DELAYS_SECONDS } from '../../../../lib/deliveries/retry-schedule.ts';
import { isSuccess, latestRun, outcomeText } from '../components/deliveries.tsx';
import { durationText, In, ShortTime } from '../components/time.tsx';
import type { Delivery } from '../state/api.ts';

/** The schedule of six attempts: those already made, the next one, and those that may follow. */
export function Timeline({ of: { attempts, status, next_attempt_at } }: { of: Delivery }) {
  const latest = attempts.at(-1);
  const isSuccessful = latest !== undefined && isSuccess(latest);
  const isSixth = latest !== undefined && latest.number > RETRY_DELAYS_SECONDS.length;
  // A run without an attempt shows those of the run before, which ended with a success or the sixth attempt.
  const isOfEarlierRun =
    status === 'pending' ||
    (status === 'failed' && isSuccessful) ||
    ((status === 'canceled' || status === 'skipped') && (isSuccessful || isSixth));
  const attemptsOfRun = isOfEarlierRun ? [] : latestRun(attempts);
  const next = isUnderWay(status) ? attemptsOfRun.length : -1;
  const last = attemptsOfRun.at(-1);
  // The earliest times of later attempts, if each attempt fails immediately.
  let dueAt = next_attempt_at ? Date.parse(next_attempt_at) : 0;
  return (
    <ol class="timeline">
      {[0, ...RETRY_DELAYS_SECONDS].map((delay, i) => {
        const attempt = attemptsOfRun[i];
        const isNext = i === next;
        if (i > next && next >= 0) dueAt += delay * 1000;
        const isOver = !attempt && next < 0;
        const state = attempt ? (isSuccess(attempt) ? 'good' : 'bad') : isNext ? 'waiting' : 'off';
        return (
          <li key={delay} class={state} aria-current={isNext ? 'step' : undefined}>
            <span class="delay">{i === 0 ? 'Immediately' : `+ ${durationText(delay)}`}</span>
            <i aria-hidden="true" />
            <strong>Attempt {i + 1}</strong>
            {attempt && (
              <>
                <span>{outcomeText(attempt)}</span>
                <ShortTime at={attempt.at} />
              </>
            )}
            {isNext && next_attempt_at && (
              <>
                <span>
                  <In to={next_attempt_at} />
                </span>
                <ShortTime at={next_attempt_at} />
              </>
            )}
            {!attempt && !isNext && !isOver && (
              <>
                <span class="muted">not before</span>
                <span class="muted">
                  <ShortTime at={new Date(dueAt).toISOString()} />
                </span>
              </>
            )}
            {isOver && <span class="muted">{last && isSuccess(last) ? 'not needed' : 'not attempted'}</span>}
          </li>
        );
      })}
    </ol>
  );
}
