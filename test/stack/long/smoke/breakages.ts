import { BEGIN, CLEAN_UP } from '../../../../infra/commands/smoke/run.ts';
import type { Breakage, ProxiedRequest, ProxiedResponse } from './proxy.ts';

const isOn = (method: string, path: RegExp) => (request: ProxiedRequest) =>
  request.method === method && path.test(request.path);

/** Changes the responses to matching requests. */
const answering = (method: string, path: RegExp, change: (response: ProxiedResponse) => void): Breakage => ({
  response: (response, request) => {
    if (isOn(method, path)(request)) change(response);
  },
});
const without = (method: string, path: RegExp, header: string) =>
  answering(method, path, ({ headers }) => void delete headers[header]);
const withStatus = (method: string, path: RegExp, status: number) =>
  answering(method, path, (response) => void Object.assign(response, { status }));
const edit = (method: string, path: RegExp, change: (text: string) => string) =>
  answering(method, path, (response) => {
    response.body = Buffer.from(change(response.body.toString()));
  });
/** Replaces a change with a read, so that it succeeds without an effect. */
const ignoring = (path: RegExp): Breakage => ({
  request(request) {
    if (!isOn('POST', path)(request)) return;
    Object.assign(request, {
      method: 'GET',
      path: request.path.replace(/\/(revoke|redeliver)$/, ''),
      body: Buffer.alloc(0),
    });
  },
});
const anything = /./;

/** For every check, a broken service and the expected reason. */
export const SERVICE_BREAKAGES: [check: string, breakage: Breakage, says: RegExp][] = [
  [BEGIN, withStatus('POST', /^\/v1\/keys$/, 500), /POST \/v1\/keys: 500/],
  [CLEAN_UP, withStatus('DELETE', /^\/v1\/documents/, 500), /are left: DELETE \/v1\/documents\/.*: 500/],
  [
    'Responses: have a request id and security headers',
    without('GET', /^\/v1\/webhooks/, 'x-content-type-options'),
    /X-Content-Type-Options is missing/,
  ],
  ['Problems: no credential', without('GET', anything, 'www-authenticate'), /WWW-Authenticate is missing/],
  ['Problems: an unknown credential', withStatus('GET', anything, 403), /403 instead of 401/],
  [
    'Problems: a key without the permission',
    edit('GET', anything, (text) => text.replaceAll('insufficient_permissions', 'unauthorized')),
    /code unauthorized instead of insufficient_permissions/,
  ],
  [
    'Problems: an unknown route',
    edit('GET', anything, () => '{"message":"Missing Authentication Token"}'),
    /the problem does not match its schema/,
  ],
  ['Problems: an unsupported method', withStatus('PUT', /^\/v1\/webhooks/, 404), /404 instead of 405/],
  [
    'Problems: an unsupported method without a credential',
    withStatus('PUT', /^\/v1\/webhooks/, 405),
    /405 instead of 401/,
  ],
  [
    'Problems: an unknown resource',
    answering('GET', anything, ({ headers }) => void Object.assign(headers, { 'x-request-id': 'another' })),
    /request_id differs from X-Request-Id/,
  ],
  [
    'Problems: a body that is not JSON',
    edit('POST', /^\/v1\/events/, (text) => text.replace('"status":400', '"status":500')),
    /status 500 in the body instead of 400/,
  ],
  [
    'Problems: an invalid body',
    edit('POST', /^\/v1\/events/, (text) => text.replace('"field"', '"name"')),
    /the problem does not match its schema/,
  ],
  [
    'Problems: another media type',
    answering(
      'POST',
      /^\/v1\/events/,
      ({ headers }) => void Object.assign(headers, { 'content-type': 'application/json' }),
    ),
    /Content-Type is "application\/json"/,
  ],
  ['Problems: a body that is too large', withStatus('POST', /^\/v1\/events/, 502), /502 instead of 413/],
  [
    'Responses: are compressed for clients that accept gzip',
    { request: ({ headers }) => void delete headers['accept-encoding'] },
    /Content-Encoding is missing/,
  ],
  [
    'Pages: /dashboard and its files load, with a Content-Security-Policy',
    without('GET', /^\/dashboard$/, 'content-security-policy'),
    /Content-Security-Policy is missing/,
  ],
  ['Pages: /docs and its files load, with a Content-Security-Policy', withStatus('GET', /\.js$/, 404), /\.js: 404/],
  [
    'Pages: /docs/errors and its files load, with a Content-Security-Policy',
    edit('GET', /^\/docs\/errors$/, (text) => text.replace('href="', 'href="https://cdn.example.com/')),
    /loads https:\/\/cdn\.example\.com/,
  ],
  [
    'OpenAPI: the document contains the base URL',
    { request: ({ headers }) => void Object.assign(headers, { host: 'elsewhere.example.com' }) },
    /servers: .*elsewhere\.example\.com/,
  ],
  [
    'CORS: any origin can call the operations for tokens and read problems',
    without('GET', /^\/v1\/documents/, 'access-control-allow-origin'),
    /Access-Control-Allow-Origin is missing/,
  ],
  [
    'CORS: no origin can manage keys',
    answering(
      'GET',
      /^\/v1\/keys/,
      ({ headers }) => void Object.assign(headers, { 'access-control-allow-origin': '*' }),
    ),
    /Access-Control-Allow-Origin is "\*"/,
  ],
  [
    'Keys: both keys work after a rotation',
    edit('POST', /\/rotate$/, (text) => text.replace('"key":"svc_test_', '"key":"svc_live_')),
    /GET \/v1\/documents: 401/,
  ],
  ['Keys: a revoked key stops working immediately', ignoring(/\/revoke$/), /the key still works/],
  ['Keys: an allowlist allows only its addresses', ignoring(/\/allowlist$/), /200 instead of 403/],
  ['Tokens: can read matching documents', withStatus('GET', /:inside:/, 403), /403 instead of 200/],
  ['Tokens: cannot read other documents', withStatus('GET', /:outside:/, 200), /200 instead of 403/],
  [
    'Tokens: cannot write without the permission',
    edit('PUT', /:inside:/, (text) => text.replaceAll('insufficient_permissions', 'document_not_allowed')),
    /code document_not_allowed instead of insufficient_permissions/,
  ],
  [
    'Idempotency: a repeated request returns the first response',
    { request: ({ headers }) => void delete headers['idempotency-key'] },
    /the second response is 202/,
  ],
  [
    'Documents: create, read, merge, delete',
    edit('GET', anything, (text) => text.replace('"size":2', '"size":1')),
    /fields are .* after a merge/,
  ],
  ['Documents: ETags guard reads and writes', without('PUT', anything, 'etag'), /ETag is missing/],
  [
    'Lists: the pages contain every entry exactly once',
    edit('GET', /limit=2/, (text) => text.replace(/"next_cursor":"[^"]*"/, '"next_cursor":null')),
    /the pages contain \S+:a, \S+:b$/,
  ],
  [
    'Sync: applies pushes and returns differences',
    edit('POST', /^\/v1\/sync$/, (text) => text.replace(/"changes":\[.*?\],"cursor"/, '"changes":[],"cursor"')),
    /the changes are \[\]/,
  ],
  ['Connections: open, renew, close', withStatus('DELETE', /^\/v1\/connections/, 500), /500 instead of 204/],
  [
    'Webhooks: both secrets sign after a rotation',
    edit('POST', /\/rotate-secret$/, (text) => text.replace(/"secret":"[^"]*"/, '"secret":"another"')),
    /x-service-signature is .*, which is not the signature of the body/,
  ],
  ['Webhooks: a redelivery sends the same event', ignoring(/\/redeliver$/), /200 instead of 202/],
  [
    'Webhooks: the delivery log shows the success',
    edit('GET', /\/deliveries\//, (text) => text.replace('"succeeded"', '"failed"')),
    /"status":"failed"/,
  ],
];

const header = (name: string, value: string): Breakage => ({
  request: ({ headers }) => void Object.assign(headers, { [name]: value }),
});
const withBody = (change: (text: string) => string): Breakage => ({
  request: (request) => void Object.assign(request, { body: Buffer.from(change(request.body.toString())) }),
});

const leadingNowhere: Breakage = {
  ...withBody(() => ''),
  response: (response) => void Object.assign(response, { status: 502 }),
};

/** For checks of deliveries, a broken tunnel and the expected reason. */
export const TUNNEL_BREAKAGES: [check: string, breakage: Breakage, says: RegExp][] = [
  ['Webhooks: deliver changes as documented', leadingNowhere, /the delivery failed: \S+ 502/],
  ['Webhooks: deliver changes as documented', header('x-service-attempt', '2'), /x-service-attempt is 2, not 1/],
  [
    'Webhooks: X-Service-Signature verifies',
    withBody((text) => `${text} `),
    /x-service-signature is .*, which is not the signature of the body/,
  ],
  [
    'Webhooks: the Standard Webhooks signature verifies',
    header('webhook-signature', `v1,${Buffer.alloc(32).toString('base64')}`),
    /No matching signature found/,
  ],
  ['Connections: an expired lease publishes connection.lost', leadingNowhere, /the delivery failed: \S+ 502/],
];
