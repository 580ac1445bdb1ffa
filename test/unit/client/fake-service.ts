import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { NewEvent } from '../../../lib/client/publisher-types.ts';
import type { TokenKey } from '../../../lib/client/token-keys.ts';

export const KEY_ID = 'key_aaaaaaaaaaaa';

interface Sent {
  method: string;
  path: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of bodies
  body: any;
  headers: Headers;
}

/** The operations that an engine calls, behind `fetch`, with one signing key. `fate` can replace the response to a request. */
export async function fakeService({
  cacheSeconds = 10,
  fate = (_: Sent): Response | undefined | Promise<Response | undefined> => undefined,
} = {}) {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const { x = '' } = await exportJWK(publicKey);
  const key: TokenKey = { kid: KEY_ID, x, expires_at: null, cidrs: [], revoked_tokens: [] };
  const service = {
    keys: [key] as TokenKey[],
    sent: [] as Sent[],
    published: [] as NewEvent[],
    legacy: { active: false } as object,
    /** When the lease of the engine started. */
    openedAt: 'first',
  };

  function respond({ method, path, body, headers }: Sent): Response {
    if (path === '/v1/tokens/keys') {
      const text = JSON.stringify({ keys: service.keys, cache_seconds: cacheSeconds });
      const etag = `"${Buffer.from(text).toString('base64url').slice(-40)}-${text.length}"`;
      if (headers.get('If-None-Match') === etag) return new Response(null, { status: 304, headers: { ETag: etag } });
      return new Response(text, { headers: { ETag: etag } });
    }
    if (path === '/v1/tokens/verify') return Response.json(service.legacy);
    if (path.startsWith('/v1/engines/'))
      return method === 'PUT' ? Response.json({ opened_at: service.openedAt }) : new Response(null, { status: 204 });
    service.published.push(...body.events);
    return Response.json({ data: [] }, { status: 202 });
  }

  return Object.assign(service, {
    key,
    privateKey,
    access: {
      baseUrl: 'https://api.example.com/',
      credential: 'svc_live_key',
      fetch: async (input: string | URL | Request, init: RequestInit = {}) => {
        const path = String(input).replace('https://api.example.com', '');
        const body = init.body ? JSON.parse(String(init.body)) : undefined;
        const request = { method: init.method ?? '', path, body, headers: new Headers(init.headers) };
        service.sent.push(request);
        return (await fate(request)) ?? respond(request);
      },
    },
    sentTo: (path: string) => service.sent.filter((request) => request.path.startsWith(path)),
  });
}

export type FakeService = Awaited<ReturnType<typeof fakeService>>;

/** Signs a token as the service does. `claims` and `header` replace its content. */
export function tokenOf(
  { privateKey }: FakeService,
  { claims = {}, header = {} }: { claims?: Record<string, unknown>; header?: Record<string, unknown> } = {},
): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const content = { documents: ['org:acme:*'], permissions: ['read'], env: 'live', iat, exp: iat + 3600, ...claims };
  return new SignJWT({ iss: 'document-sync', aud: 'prj_1', sub: KEY_ID, jti: 'tok_1', ...content })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'svc-doc+jwt', kid: KEY_ID, ...header })
    .sign(privateKey);
}
