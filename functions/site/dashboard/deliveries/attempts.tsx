import { isUnderWay } from '../../../../lib/deliveries/retry-schedule.ts';
import { visible } from '../../../../lib/printable.ts';
import { CopyButton } from '../components/copyable.tsx';
import { type Attempt, adviceOn, isSuccess, outcomeText } from '../components/deliveries.tsx';
import { TRIGGER_NAMES } from '../components/delivery-text.ts';
import { Scroll } from '../components/scroll.tsx';
import { Time } from '../components/time.tsx';
import type { Delivery } from '../state/api.ts';
import { comparison } from './compare.ts';
import { curlCommand } from './curl.ts';

interface Props {
  of: Delivery;
  /** The event, of which every attempt sends the same bytes. */
  event: object;
}

/** Lists the request and response of each attempt, newest first, with the newest attempt open. */
export function Attempts({ of: { attempts, status }, event }: Props) {
  if (attempts.length === 0)
    return <p class="muted">{isUnderWay(status) ? 'No attempt yet.' : 'No attempt was made.'}</p>;
  const body = JSON.stringify(event);
  const isMasked = attempts.some(({ request_headers: sent }) => sent && Object.values(sent).includes('***'));
  return (
    <>
      <ol class="attempts">
        {attempts
          .map((attempt, i) => (
            <li key={i}>
              <details open={i === attempts.length - 1}>
                <summary>
                  <strong>Attempt {attempt.number}</strong>
                  <span class={isSuccess(attempt) ? 'outcome good' : 'outcome bad'}>{outcomeText(attempt)}</span>{' '}
                  <span class="muted">{attempt.duration_ms.toLocaleString()} ms</span>{' '}
                  <span class="muted">{TRIGGER_NAMES[attempt.trigger]}</span> <Time at={attempt.at} />
                </summary>
                <Exchange of={attempt} before={attempts[i - 1]} body={body} />
              </details>
            </li>
          ))
          .reverse()}
      </ol>
      <p class="hint">
        The copied command repeats the request. Receivers that check the timestamp reject it 5 minutes after the
        attempt.{isMasked && ' Fill in the values of your own headers, because they are masked here.'}
      </p>
    </>
  );
}

/** A request and its response, with the differences from the attempt before. */
function Exchange({ of: attempt, before, body }: { of: Attempt; before: Attempt | undefined; body: string }) {
  const { number, url, requests, error_reason: reason } = attempt;
  const { request_headers: sent, response_headers: received, response_excerpt: excerpt } = attempt;
  const advice = adviceOn(attempt);
  return (
    <>
      {advice && <p>{advice}</p>}
      {reason && (
        <p class="hint">
          Cause: <code>{visible(reason)}</code>
        </p>
      )}
      {requests !== null && requests > 1 && (
        <p class="hint">The request was sent {requests} times, so your endpoint may have received it more than once.</p>
      )}
      {url && sent && (
        <div class="request">
          <code>POST {url}</code>
          <CopyButton text={curlCommand(url, sent, body)}>Copy as curl</CopyButton>
        </div>
      )}
      {before && <p class="hint">{visible(comparison(before, attempt))}</p>}
      {sent && <Headers title="Request headers" number={number} of={sent} />}
      {received && <Headers title="Response headers" number={number} of={received} />}
      {excerpt !== null && <Scroll label={`Response to attempt ${number}`}>{visible(excerpt)}</Scroll>}
    </>
  );
}

function Headers({ title, number, of: headers }: { title: string; number: number; of: Record<string, string> }) {
  const entries = Object.entries(headers);
  return (
    <details class="headers">
      <summary>
        {title} ({entries.length})
      </summary>
      <Scroll label={`${title} of attempt ${number}`}>
        {entries.map(([name, value]) => visible(`${name}: ${value}`)).join('\n')}
      </Scroll>
    </details>
  );
}
