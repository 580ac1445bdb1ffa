import { afterEach, expect, it, vi } from 'vitest';
import { batchIn } from '../../../infra/commands/replay.ts';
import { failedEvents, RETRIES, TIMEOUT_MS } from '../../../lib/aws/failed-events.ts';
import { UnavailableError } from '../../../lib/errors.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const record = { eventID: 'e1', dynamodb: { SequenceNumber: '7' } };
const error = new Error('refused');

it('stores a record with the error as a batch for a replay', async () => {
  const objects = new Map<string, string>();
  const setAside = failedEvents('https://bucket', async (url, body) => {
    objects.set(url, body);
    return { ok: true, status: 200 };
  });
  await setAside(record, error);
  const [[url, body] = ['', '']] = objects;
  expect(url).toBe('https://bucket/set-aside/e1');
  expect(JSON.parse(body).failure).toEqual({ message: 'refused' });
  expect(batchIn('set-aside/e1', body)).toEqual({ Records: [record], isReplay: true });
});

it.each<[string, () => Promise<{ ok: boolean; status: number }>]>([
  ['S3 denies the request', async () => ({ ok: false, status: 403 })],
  ['S3 fails after all tries', async () => ({ ok: false, status: 503 })],
  ['S3 cannot be reached', () => Promise.reject(new TypeError('fetch failed'))],
])('throws UnavailableError when %s, so that the stream retries the record', async (_, put) => {
  await expect(failedEvents('https://bucket', put)(record, error)).rejects.toThrow(UnavailableError);
});

it('is signed with the temporary credentials of the role, which S3 rejects without their session token', async () => {
  const role = { AWS_ACCESS_KEY_ID: 'ASIA1', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'session' };
  for (const [name, value] of Object.entries({ ...role, AWS_REGION: 'eu-central-1' })) vi.stubEnv(name, value);
  const requests: Request[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    requests.push(request);
    return new Response();
  });
  await failedEvents('https://bucket')(record, error);
  const [{ method, headers } = new Request('https://none')] = requests;
  // A condition would reject the repetition of a batch.
  expect([method, Object.fromEntries(headers)]).toEqual([
    'PUT',
    {
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=ASIA1\/\d{8}\/eu-central-1\/s3\/aws4_request, /,
      ),
      'content-type': 'text/plain;charset=UTF-8',
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      'x-amz-date': expect.stringMatching(/^\d{8}T\d{6}Z$/),
      'x-amz-security-token': 'session',
    },
  ]);
});

it('is sent a few times within its own time limit, so that it ends before the function does', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0); // no waits between the tries
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  const fetch = vi.fn(async () => new Response(null, { status: 503 }));
  vi.stubGlobal('fetch', fetch);
  const setAside = failedEvents('https://bucket');
  await expect(setAside(record, error)).rejects.toThrow(UnavailableError);
  expect(fetch).toHaveBeenCalledTimes(1 + RETRIES);
  await expect(setAside(record, error)).rejects.toThrow(UnavailableError);
  expect(timeout.mock.calls).toEqual([[TIMEOUT_MS], [TIMEOUT_MS]]);
});
