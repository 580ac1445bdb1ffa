import { describe, expect, it } from 'vitest';
import { memoryOutbox, sqliteOutbox } from '../../../lib/client/outbox.ts';
import { publisher } from '../../../lib/client/publisher.ts';
import { applyChange, fieldsOf } from '../../../lib/client/replica.ts';
import { tokenVerifier } from '../../../lib/client/token-verifier.ts';

/** A function as JavaScript callers see it. */
type Untyped = (...given: unknown[]) => unknown;

/** The message of the error that a call throws. It is the one of a wrong argument. */
async function messageOf(call: () => unknown): Promise<string> {
  const thrown: unknown = await Promise.resolve()
    .then(call)
    .catch((error) => error);
  expect(thrown).toBeInstanceOf(TypeError);
  return (thrown as TypeError).message;
}

const requests: unknown[] = [];
const access = {
  baseUrl: 'https://api.example.com',
  credential: 'svc_live_key',
  fetch: async (url: unknown) => {
    requests.push(url);
    return Response.json({ active: true }, { status: 202 });
  },
};
const event = { type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'n' } };

const URL_OF_SERVICE = 'Pass baseUrl as the URL of the service, such as https://api.example.com, not';
const CREDENTIAL = 'Pass credential as an API key or a scoped token without quotes, spaces or "Bearer", not';

/** Wrong options of each function that sends requests. */
const ACCESS: [unknown, string][] = [
  [undefined, 'Pass an object with baseUrl and credential, not undefined'],
  ['https://api.example.com', 'Pass an object with baseUrl and credential, not this text'],
  [{ baseURL: 'https://api.example.com', credential: 'key' }, `${URL_OF_SERVICE} undefined`],
  [{ ...access, baseUrl: new URL('https://api.example.com') }, `${URL_OF_SERVICE} this object`],
  ...['api.example.com', '/', 'ftp://api.example.com', 'https://', 'https://a b', 'https://a/?b', 'https://a/#b'].map(
    (baseUrl): [unknown, string] => [{ ...access, baseUrl }, `${URL_OF_SERVICE} this text`],
  ),
  [{ ...access, baseUrl: 'https://user:password@api.example.com' }, `${URL_OF_SERVICE} this text`],
  [
    { ...access, baseUrl: 'https://api.example.com/v1/' },
    'Pass baseUrl without the version of the API, such as https://api.example.com, not this text',
  ],
  [{ ...access, credential: undefined }, `${CREDENTIAL} undefined`],
  [{ ...access, credential: '' }, `${CREDENTIAL} empty text`],
  ...['"svc_live_key"', 'Bearer svc_live_key', 'svc_live_key\n', 'svc_live_kéy'].map(
    (credential): [unknown, string] => [{ ...access, credential }, `${CREDENTIAL} this text`],
  ),
  [{ ...access, fetch: 'fetch' }, 'Pass fetch as a function, not this text'],
];

describe('publisher', () => {
  const create = publisher as Untyped;

  it.each(ACCESS)('says what to pass and not %j', async (given, message) => {
    expect(await messageOf(() => create(given))).toBe(message);
  });

  it.each([
    [{ outbox: 'outbox.sqlite' }, /^Pass outbox as .+sqliteOutbox\(path\), not this text$/],
    [{ outbox: Promise.resolve(memoryOutbox()) }, /, not a promise, which needs await$/],
    [
      { outbox: { ...memoryOutbox(), assign: undefined } },
      /^Pass outbox as .+ add, count, first, assign, remove, .+ not this object$/,
    ],
    [{ maxWaitSeconds: '1' }, /^Pass maxWaitSeconds as a number of seconds from 0 to 86400, not this text$/],
    [{ maxWaitSeconds: -1 }, /, not -1$/],
    [{ maxWaitSeconds: Number.POSITIVE_INFINITY }, /, not Infinity$/],
    [{ maxBuffered: 0 }, /^Pass maxBuffered as a whole number from 1, not 0$/],
    [{ maxBuffered: 1.5 }, /, not 1.5$/],
    [{ onPublished: 1 }, /^Pass onPublished as a function, not 1$/],
    [{ onRejected: {} }, /^Pass onRejected as a function, not this object$/],
    [{ onRetry: null }, /^Pass onRetry as a function, not null$/],
  ])('says what to pass and not %o', async (options, message) => {
    expect(await messageOf(() => create({ ...access, ...options }))).toMatch(message);
  });

  const cycle: Record<string, unknown> = { ...event };
  cycle.data = { cycle };

  it.each([
    [undefined, 'Pass an event as an object with type and data, not undefined'],
    [JSON.stringify(event), 'Pass an event as an object with type and data, not this text'],
    [[event], 'Pass an event as an object with type and data, not this array'],
    [Promise.resolve(event), 'Pass an event as an object with type and data, not a promise, which needs await'],
    [{ ...event, type: '' }, 'Pass an event as an object with type and data, not this object'],
    [{ type: event.type }, 'Pass an event as an object with type and data, not this object'],
    [{ ...event, data: { revision: 1n } }, /^Pass an event of JSON values, without BigInt values/],
    [cycle, /without an object that contains itself$/],
  ])('rejects the event %o, and publishes the next one', async (given, message) => {
    const { publish, close, stats } = await publisher({ ...access, maxWaitSeconds: 0 });
    expect(await messageOf(() => (publish as Untyped)(given))).toMatch(message);
    await publish(event);
    expect(await close()).toBe(0);
    expect(stats()).toMatchObject({ published: 1, rejected: 0 });
  });

  // `process.once('SIGTERM', close)` passes the name of the signal.
  it.each(['SIGTERM', -1, Number.NaN, null])('stays open if `close` receives %o', async (given) => {
    const { publish, close } = await publisher({ ...access, maxWaitSeconds: 0 });
    expect(await messageOf(() => (close as Untyped)(given))).toMatch(
      /^Pass the time of close as a number of seconds from 0 to 86400, not /,
    );
    await publish(event);
    expect(await close()).toBe(0);
  });
});

describe('tokenVerifier', () => {
  const create = tokenVerifier as Untyped;

  it.each([
    ...ACCESS,
    [{ ...access, maxCached: -1 }, 'Pass maxCached as a whole number from 0, not -1'],
  ])('says what to pass and not %j', async (given, message) => {
    expect(await messageOf(() => create(given))).toBe(message);
  });

  it.each([
    [[undefined], 'Pass the token as text, not undefined'],
    [[''], 'Pass the token as text, not empty text'],
    [['token', 'org:a'], 'Pass the check as an object, such as { document_key, permission }, not this text'],
    [['token', null], 'Pass the check as an object, such as { document_key, permission }, not null'],
    [
      ['token', { documentKey: 'a' }],
      'Pass document_key, permission and address in the check, and no member documentKey',
    ],
    [['token', { document_key: null }], 'Pass document_key as text, not null'],
    [['token', { document_key: '' }], 'Pass document_key as text, not empty text'],
    [['token', { document_key: 'a', permission: 'Write' }], "Pass permission as 'read' or 'write', not this text"],
    [['token', { address: 1 }], 'Pass address as text, not 1'],
  ])('checks nothing with %j', async (given, message) => {
    requests.length = 0;
    const verifyToken = tokenVerifier(access) as Untyped;
    expect(await messageOf(() => verifyToken(...given))).toBe(message);
    expect(requests).toEqual([]);
  });
});

describe('a replica', () => {
  const apply = applyChange as Untyped;
  const data = { document_key: 'a', revision: 2, changes: [{ field: 'title', old_value: null, new_value: 'New' }] };
  const change = { type: 'document.changed', data };
  const replica = applyChange(undefined, change);

  it('can be null, as a database returns it', () => {
    expect(applyChange(null, change)).toEqual(replica);
    expect(fieldsOf(null)).toBeNull();
    expect(fieldsOf(replica)).toEqual({ title: 'New' });
  });

  it.each([JSON.stringify(replica), [replica], change, { fields: {} }])('cannot be %j', async (given) => {
    for (const call of [() => apply(given, change), () => (fieldsOf as Untyped)(given)])
      expect(await messageOf(call)).toMatch(
        /^Pass a replica as an object that applyChange returned, or null, not this/,
      );
  });

  it.each([undefined, JSON.stringify(change), [change], { data }])('does not change with %j', async (given) => {
    expect(await messageOf(() => apply(replica, given))).toMatch(
      /^Pass an event as an object, such as the result of verify, not /,
    );
  });

  it.each([
    [undefined],
    [null],
    [[data]],
    [{ ...data, revision: '2' }],
    [{ ...data, revision: undefined }],
    [{ ...data, changes: { title: 'New' } }],
    [{ ...data, changes: [{ field: 'title' }] }],
    [{ ...data, changes: ['title'] }],
    [{ ...data, fields: null }],
  ])('does not change with the data %j', async (given) => {
    expect(await messageOf(() => apply(replica, { type: change.type, data: given }))).toMatch(
      /^Pass an event with the data of the service, not /,
    );
    expect(apply(replica, { type: 'document.moved', data: given })).toBe(replica);
  });
});

it.each([
  undefined,
  '',
  new URL('file:///outbox.sqlite'),
  { path: 'outbox.sqlite' },
])('sqliteOutbox says what to pass and not %j', async (path) => {
  expect(await messageOf(() => (sqliteOutbox as Untyped)(path))).toMatch(/^Pass the path of a file as text, not /);
});
