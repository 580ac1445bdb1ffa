import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { publisher } from '../../../lib/client/publisher.ts';
import { direct } from '../../../lib/client/redirect.ts';
import { tokenVerifier } from '../../../lib/client/token-verifier.ts';
import { afterFile } from '../../support/after-file.ts';
import { fakeService, tokenOf } from './fake-service.ts';
import { event } from './ingest.ts';

/** Starts a server on loopback, and returns its URL. */
async function serve(respond: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterFile(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A service that redirects each request to another server, which allows everything, and the requests of that one. */
async function redirecting(status: number) {
  const received: string[] = [];
  const other = await serve((request, response) => {
    received.push(request.url ?? '');
    response.end('{"active":true,"allowed":true}');
  });
  const baseUrl = await serve((request, response) => {
    response.writeHead(status, { Location: `${other}${request.url}` }).end();
  });
  return { baseUrl, other, received, access: { baseUrl, credential: 'svc_live_key' } };
}

describe.each([301, 302, 303, 307, 308])('a response with %i', (status) => {
  it('is no result of a token verifier, and the other server receives nothing', async () => {
    const { access, baseUrl, other, received } = await redirecting(status);
    const token = await tokenOf(await fakeService());
    const head = Buffer.from('{"alg":"HS256","typ":"svc-doc+jwt","kid":"key_1"}').toString('base64url');
    for (const [given, path] of [
      [token, '/v1/tokens/keys'],
      [[head, ...token.split('.').slice(1)].join('.'), '/v1/tokens/verify'],
    ] as const)
      await expect(tokenVerifier(access)(given)).rejects.toThrow(
        `${baseUrl} redirects requests to ${other}${path}. Set baseUrl to the final address of the service.`,
      );
    expect(received).toEqual([]);
  });

  it('keeps the events of a publisher, which reports it, and the other server receives nothing', async () => {
    const { access, other, received } = await redirecting(status);
    const reasons = Promise.withResolvers<string>();
    const { publish, close } = await publisher({ ...access, maxWaitSeconds: 0, onRetry: reasons.resolve });
    await publish(event(1));
    expect(await reasons.promise).toContain(`redirects requests to ${other}/v1/events/batch.`);
    expect(await close(0)).toBe(1);
    expect(received).toEqual([]);
  });
});

it.each([
  ['a redirect in a browser, which hides its status', { status: 0, type: 'opaqueredirect' }],
  ['the response after a redirect that another fetch followed', { status: 200, redirected: true }],
])('%s is rejected', (_, response) => {
  const received = { type: 'basic', redirected: false, headers: new Headers(), ...response } as Response;
  expect(() => direct(received, 'https://api.example.com/v1/events')).toThrow(
    'https://api.example.com redirects requests. Set baseUrl to the final address of the service.',
  );
});

it('a response with 304 is no redirect', () => {
  const response = new Response(null, { status: 304 });
  expect(direct(response, 'https://api.example.com')).toBe(response);
});
