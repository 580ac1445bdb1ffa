import type { Delivery } from '../state/api.ts';

type Attempt = Delivery['attempts'][number];

const OUTCOME = ['status_code', 'error', 'error_reason'] as const;

/** Names the parts of a response that differ from the attempt before. The date always differs, so it does not count. */
export function comparison(before: Attempt, after: Attempt): string {
  const [old, fresh] = [before.response_headers ?? {}, after.response_headers ?? {}];
  const headers = Object.keys({ ...old, ...fresh })
    .filter((name) => old[name] !== fresh[name] && name.toLowerCase() !== 'date')
    .sort();
  const differences = [
    ...(OUTCOME.some((member) => before[member] !== after[member]) ? ['outcome'] : []),
    ...(before.response_excerpt !== after.response_excerpt ? ['body'] : []),
    ...(headers.length > 0 ? [`headers (${headers.join(', ')})`] : []),
  ];
  return differences.length === 0
    ? `Same response as to attempt ${before.number}.`
    : `Differs from attempt ${before.number}: ${differences.join(', ')}.`;
}
