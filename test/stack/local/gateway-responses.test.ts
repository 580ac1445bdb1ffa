import { describe, expect, it } from 'vitest';
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
    const responses = withResponses({ INTEGRATION_FAILURE: '503', DEFAULT_4XX: '400', DEFAULT_5XX: '500' });
    expect(responses.of(type, { requestId: 'r' }).statusCode).toBe(expected);
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

describe('a function that fails', () => {
  it('causes an integration failure', async () => {
    const { url } = await startGateway({ invoke: () => Promise.reject(new Error('no')) });
    const response = await fetch(`${url}/v1/keys`, { headers: { Authorization: 'x' } });
    expect(await response.json()).toMatchObject({ status: 503, code: 'unavailable' });
  });
});
