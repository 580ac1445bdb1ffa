import { describe, expect, it, vi } from 'vitest';
import { readGatewayResponses } from '../../../infra/local/gateway/gateway-responses.ts';
import { startGateway } from './gateway.ts';

const withResponses = (types: Record<string, string>) =>
  readGatewayResponses({
    ofType: <Properties>() =>
      Object.entries(types).map(([ResponseType, StatusCode]) => ({
        id: ResponseType,
        type: 'AWS::ApiGateway::GatewayResponse',
        properties: { ResponseType, StatusCode } as Properties,
      })),
  });

describe('a gateway response', () => {
  it.each([
    ['INTEGRATION_FAILURE', 503],
    ['INTEGRATION_TIMEOUT', 500],
    ['AUTHORIZER_CONFIGURATION_ERROR', 500],
    ['UNAUTHORIZED', 400],
  ])('uses the default for an undeclared %s', (type, expected) => {
    const responseOf = withResponses({ INTEGRATION_FAILURE: '503', DEFAULT_4XX: '400', DEFAULT_5XX: '500' });
    expect(responseOf(type, { requestId: 'r' }).statusCode).toBe(expected);
  });
});

describe('a header of a function', () => {
  it('is renamed like in API Gateway', async () => {
    const headers = { 'WWW-Authenticate': 'Bearer', Date: 'today', ETag: '"1"' };
    const { url } = await startGateway({ invoke: () => ({ statusCode: 401, headers, body: '' }) });
    const response = await fetch(`${url}/v1/keys`, { headers: { Authorization: 'x' } });
    const named = (name: string) => response.headers.get(name);
    expect([named('www-authenticate'), named('x-amzn-Remapped-WWW-Authenticate')]).toEqual([null, 'Bearer']);
    expect([named('x-amzn-Remapped-Date'), named('etag')]).toEqual(['today', '"1"']);
  });
});

describe('an authorized request', () => {
  const statusOf = async (path: string, resource?: string) => {
    const { url } = await startGateway({
      invoke: () => ({ statusCode: 204, body: '' }),
      ...(resource && { resource }),
    });
    return (await fetch(`${url}/v1/documents/${path}`, { headers: { Authorization: 'x' } })).status;
  };

  it('is rejected when the ARN of its method has more than 1,600 bytes', async () => {
    expect([await statusOf('a'.repeat(1500)), await statusOf('a'.repeat(1600))]).toEqual([204, 400]);
  });

  it('is rejected when its body has more than 10 MB', async () => {
    const { url } = await startGateway({ invoke: () => ({ statusCode: 204, body: '' }) });
    const post = (bytes: number) =>
      fetch(`${url}/v1/events`, { method: 'POST', headers: { Authorization: 'x' }, body: 'a'.repeat(bytes) });
    expect([(await post(10_485_760)).status, (await post(10_485_761)).status]).toEqual([204, 413]);
  });

  it('is rejected when its request line and headers have more than 10,240 bytes', async () => {
    const { url } = await startGateway({ invoke: () => ({ statusCode: 204, body: '' }) });
    const get = (bytes: number) => fetch(`${url}/v1/keys`, { headers: { Authorization: 'x'.repeat(bytes) } });
    expect([(await get(9000)).status, (await get(10_240)).status]).toEqual([204, 400]);
  });

  it('fails when a resource of the policy has more than 512 characters', async () => {
    expect([await statusOf('a', '*'.repeat(512)), await statusOf('a', '*'.repeat(513))]).toEqual([204, 503]);
  });
});

describe('a function that fails', () => {
  it('causes an integration failure', async () => {
    const { url } = await startGateway({ invoke: () => Promise.reject(new Error('no')) });
    const response = await fetch(`${url}/v1/keys`, { headers: { Authorization: 'x' } });
    expect(await response.json()).toMatchObject({ status: 503, code: 'unavailable' });
  });

  it('causes a timeout after 29 seconds', async () => {
    const statusAfter = async (ms: number): Promise<number> => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const result = { statusCode: 204, body: '' };
      const { url } = await startGateway({
        invoke: () => new Promise((resolve) => setTimeout(resolve, ms, result) && vi.advanceTimersByTime(ms)),
      });
      return (await fetch(`${url}/v1/keys`, { headers: { Authorization: 'x' } })).status;
    };
    expect([await statusAfter(28_999), await statusAfter(29_000)]).toEqual([204, 503]);
    vi.useRealTimers();
  });
});
