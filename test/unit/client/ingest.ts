import type { NewEvent } from '../../../lib/client/publisher-types.ts';

interface Received {
  key: string;
  events: NewEvent[];
}
/** How the server responds to a request: normally, without doing anything, or not at all after it has accepted the events. */
type Fate = 'works' | 'lost' | { status: number; headers?: Record<string, string>; problem?: object | string };

/** The batch operation of the service behind `fetch`, with its idempotency keys. */
export function ingest({ fate = (): Fate => 'works' }: { fate?(request: Received, count: number): Fate } = {}) {
  const requests: Received[] = [];
  const byKey = new Map<string, string>();
  const accepted: NewEvent[] = [];
  let [inFlight, maxInFlight] = [0, 0];

  return {
    requests,
    accepted,
    maxInFlight: () => maxInFlight,
    access: {
      baseUrl: 'https://api.example.com/v1-stage/',
      credential: 'svc_live_key',
      fetch: async (_input: string | URL | Request, init: RequestInit = {}) => {
        maxInFlight = Math.max(maxInFlight, ++inFlight);
        await Promise.resolve();
        inFlight--;
        const body = String(init.body);
        const key = new Headers(init.headers).get('Idempotency-Key') ?? '';
        const request: Received = { key, events: JSON.parse(body).events };
        requests.push(request);
        const answer = fate(request, requests.length);
        if (typeof answer === 'object') {
          const { problem = {}, status, headers = {} } = answer;
          const text = typeof problem === 'string' ? problem : JSON.stringify({ detail: 'Rejected.', ...problem });
          return new Response(text, { status, headers });
        }
        const known = byKey.get(key);
        if (known !== undefined && known !== body)
          return new Response('{"code":"idempotency_key_reused","detail":"Use a new key."}', { status: 422 });
        if (known === undefined) accepted.push(...request.events);
        byKey.set(key, body);
        // The error for a host with several addresses has a code and no message.
        const cause = requests.length % 2 === 0 ? new Error('ECONNRESET') : { message: '', code: 'ECONNRESET' };
        if (answer === 'lost') throw new TypeError('fetch failed', { cause });
        return new Response('{"data":[]}', { status: 202 });
      },
    },
  };
}

export const event = (revision: number, key = 'a', extra: object = {}): NewEvent => ({
  type: 'document.deleted',
  data: { document_key: key, revision, origin: 'engine', ...extra },
});

export const revisionsOf = (events: readonly NewEvent[]): number[] =>
  events.map(({ data }) => (data as { revision: number }).revision);
