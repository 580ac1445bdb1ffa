import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { all, createCall, serverNow } from '../../../../functions/site/dashboard/state/api.ts';

const requests: { url: string; headers: Record<string, string>; body: unknown }[] = [];
let respond = async () => new Response();
const call = createCall('svc_admin_1', 'sandbox', () => {});

beforeEach(() => {
  requests.length = 0;
  vi.stubGlobal('location', { href: 'https://api.example.com/live/dashboard#/sandbox' });
  vi.stubGlobal('fetch', async (url: URL, { headers, body }: { headers: Record<string, string>; body: string }) => {
    requests.push({ url: url.href, headers, body });
    return respond();
  });
});
afterEach(() => void vi.unstubAllGlobals());

const problem = (status: number, code: string) => async () =>
  Response.json({ status, code, detail: 'why' }, { status });

it.each<[string, isSettled: boolean, response: () => Promise<Response>]>([
  ['a success', true, async () => Response.json({ id: 'whk_1' }, { status: 201 })],
  ['an invalid request', true, problem(400, 'invalid_request')],
  ['a conflict', true, problem(409, 'limit_reached')],
  ['the same request in progress', false, problem(409, 'idempotency_in_progress')],
  ['a failure', false, problem(500, 'internal_error')],
  ['a failure of the gateway', false, async () => new Response('<html>', { status: 503 })],
  ['a success whose body ends early', false, async () => new Response('{"id":"whk', { status: 201 })],
  ['a response of a proxy', false, async () => new Response('<html>', { status: 200 })],
  ['no response', false, () => Promise.reject(new TypeError('fetch failed'))],
])('gives a POST a new idempotency key only after its outcome is known: %s', async (_, isSettled, response) => {
  const options = { body: { url: 'https://example.com', events: ['document.changed' as const] } };
  respond = response;
  await call('POST /v1/webhooks', options);
  await call('POST /v1/webhooks', { body: { ...options.body, description: 'another' } });
  respond = async () => Response.json({ id: 'whk_1' }, { status: 201 });
  await createCall('svc_admin_1', 'sandbox', () => {})('POST /v1/webhooks', options); // after the user signed in again
  const [first, other, repeated] = requests.map(({ headers }) => headers['Idempotency-Key']);
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect(other).not.toBe(first);
  expect(repeated === first).toBe(!isSettled);
});

it.each([200, 403, 502])('has the status of a response that is not JSON: %d', async (status) => {
  respond = async () => new Response('<html>', { status });
  expect((await call('GET /v1/project', {})).problem).toMatchObject({ code: 'unreadable', status });
});

it('gives a POST with an unknown outcome a new idempotency key after ten minutes', async () => {
  onTestFinished(() => void vi.useRealTimers());
  respond = problem(500, 'internal_error');
  for (const minutes of [0, 9, 18, 28]) {
    vi.setSystemTime(minutes * 60_000);
    await call('POST /v1/webhooks', { body: { url: 'https://example.com/late', events: ['document.changed'] } });
  }
  const [first, ...repeated] = requests.map(({ headers }) => headers['Idempotency-Key']);
  expect(repeated.map((key) => key === first)).toEqual([true, true, false]);
});

it('sends the parameters that are not empty, with the key and the environment, below the stage', async () => {
  respond = async () => Response.json({ data: [], next_cursor: null });
  const headers = { Authorization: 'Bearer svc_admin_1' };
  const ids = { 'whk/1': 'whk%2F1', '.': '%252E', '..': '%252E%252E', '...': '...' };
  for (const [id, segment] of Object.entries(ids)) {
    await call('GET /v1/webhooks/{id}/deliveries', { path: { id }, query: { status: '', limit: '1' } });
    const url = `https://api.example.com/live/v1/webhooks/${segment}/deliveries?limit=1&environment=sandbox`;
    expect(requests.splice(0)).toEqual([{ url, headers, body: undefined }]);
  }
});

it('ends a request that has no response within a minute', async () => {
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  onTestFinished(() => timeout.mockRestore());
  vi.stubGlobal('fetch', async (_: URL, { signal }: RequestInit) => signal?.throwIfAborted() ?? Response.json({}));
  for (const route of ['GET /v1/project', 'POST /v1/project/test-mail'] as const)
    expect((await call(route, {})).problem?.code).toBe('unreachable');
  expect(timeout).toHaveBeenCalledWith(60_000);
});

it('reads all pages of the keys, also after an empty one, or none', async () => {
  const sizes = [100, 0, 100];
  respond = async () => {
    const data = Array(sizes[requests.length - 1]).fill({});
    return Response.json({ data, next_cursor: requests.length < sizes.length ? 'next' : null });
  };
  expect((await all(call, 'GET /v1/keys')).value).toHaveLength(200);
  const page = respond;
  requests.length = 0;
  respond = () => (requests.length < 2 ? page : problem(503, 'unavailable'))();
  expect(await all(call, 'GET /v1/keys')).toMatchObject({ problem: { code: 'unavailable' } });
});

it('sends at most four reads at once, and a change without waiting for them', async () => {
  const held = Promise.withResolvers<void>();
  respond = () => held.promise.then(() => Response.json({}));
  const reads = Array.from({ length: 5 }, () => call('GET /v1/project', {}));
  const change = call('POST /v1/project/test-mail', {});
  expect(requests.map(({ url }) => url.includes('/test-mail'))).toEqual([...Array(4).fill(false), true]);
  held.resolve();
  await Promise.all([...reads, change]);
  expect(requests).toHaveLength(6);
});

it.each([
  ['behind', 6000, 6000],
  ['ahead', -6000, -6000],
  ['almost right', 4000, 0],
])('corrects the clock of the user with the time of the service, if it is %s', async (_, at, corrected) => {
  vi.setSystemTime(0);
  onTestFinished(() => void vi.useRealTimers());
  respond = async () => new Response('{}', { headers: { Date: new Date(at).toUTCString() } });
  await call('GET /v1/project', {});
  expect(serverNow()).toBe(corrected);
});
