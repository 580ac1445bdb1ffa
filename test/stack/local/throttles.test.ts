import { expect, it } from 'vitest';
import { apiKeys, readTemplate, startGateway } from './gateway.ts';

const PROJECT_LIMITS = { 'AWS::ApiGateway::UsagePlan': { Throttle: { RateLimit: 2, BurstLimit: 5 } } };
const [own, other] = apiKeys(readTemplate());
const apiKey = (event: Record<string, unknown>) => (JSON.stringify(event.headers).includes('other') ? other : own);
const respond = () => ({ statusCode: 200, headers: {}, body: '' });

async function statuses(url: string, count: number, headers: Record<string, string> = {}): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i++) found.push((await fetch(url, { headers })).status);
  return found;
}

it('rejects requests over a share without an effect on other shares', async () => {
  let now = 0;
  const { url } = await startGateway({ invoke: respond, properties: PROJECT_LIMITS, apiKey, now: () => now });
  const call = (count: number, name = 'own') => statuses(`${url}/v1/keys`, count, { Authorization: name });
  expect(await call(6)).toEqual([200, 200, 200, 200, 200, 429]);
  expect(await call(5, 'other')).toEqual([200, 200, 200, 200, 200]);
  const spread: number[] = [];
  for (let i = 0; i < 8; i++) {
    now += 125;
    spread.push(...(await call(1)));
  }
  expect(spread).toEqual([429, 429, 429, 200, 429, 429, 429, 200]);
  now += 3_600_000;
  expect(await call(6)).toEqual([200, 200, 200, 200, 200, 429]);
});

it('rejects costly reads of a share over their own limit without an effect on other methods and shares', async () => {
  let now = 0;
  const { url } = await startGateway({ invoke: respond, apiKey, now: () => now });
  const call = (count: number, path: string, name = 'own') => statuses(url + path, count, { Authorization: name });
  expect(await call(101, '/v1/events?limit=1')).toEqual([...Array(100).fill(200), 429]);
  expect(await call(1, '/v1/webhooks/whk_1/deliveries')).toEqual([200]);
  expect(await call(1, '/v1/events/evt_1')).toEqual([200]);
  expect(await call(1, '/v1/events', 'other')).toEqual([200]);
  now += 20;
  expect(await call(2, '/v1/events')).toEqual([200, 429]);
});

it('limits each method by the settings of the stage, and does not count requests over a share', async () => {
  const stage = [{ ResourcePath: '/*', HttpMethod: '*', ThrottlingRateLimit: 1, ThrottlingBurstLimit: 7 }];
  const { url } = await startGateway({
    invoke: respond,
    properties: { ...PROJECT_LIMITS, 'AWS::ApiGateway::Stage': { MethodSettings: stage } },
    apiKey,
  });
  const call = (count: number, name: string) => statuses(`${url}/v1/keys`, count, { Authorization: name });
  expect(await call(20, 'own')).toEqual([...Array(5).fill(200), ...Array(15).fill(429)]);
  expect(await call(3, 'other')).toEqual([200, 200, 429]);
  expect(await statuses(`${url}/v1/webhooks`, 1, { Authorization: 'other' })).toEqual([200]);
});

it('limits requests without a credential to a page, without an effect on other methods', async () => {
  let now = 0;
  const { url } = await startGateway({ invoke: respond, now: () => now });
  expect(new Set(await statuses(`${url}/docs`, 250))).toEqual(new Set([200]));
  expect(await statuses(`${url}/docs`, 2)).toEqual([429, 429]);
  expect(await statuses(`${url}/docs/errors`, 1)).toEqual([200]);
  expect(await statuses(`${url}/v1/keys`, 1, { Authorization: 'x' })).toEqual([200]);
  now += 40;
  expect(await statuses(`${url}/docs`, 2)).toEqual([200, 429]);
});
