import { describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../../lib/api/openapi/examples.ts';
import type { Parameter } from '../../../lib/api/openapi/openapi-document.ts';
import { operations } from '../../../lib/api/operations.ts';
import { MAX_KNOWN } from '../../../lib/documents/sync.ts';
import type { Operation } from '../../../lib/http/operation.ts';
import { openApi, violationsOf } from '../../support/openapi.ts';
import { bodyOf, changing, newScene, type Performed, perform, performed, withoutEffect } from './scene.ts';

/** Values that a member accepts and rejects. */
type Values = readonly [accepted: readonly unknown[], rejected: readonly unknown[]];

const many = <Value>(length: number, of: (i: number) => Value): Value[] => Array.from({ length }, (_, i) => of(i));
const text = (max: number): Values => [
  ['x', '😀'.repeat(max)],
  ['', '😀'.repeat(max + 1), 'a\nb', '\ud800', null, 1],
];
const ascii = (max: number): Values => [
  [' ', 'x'.repeat(max)],
  ['', 'x'.repeat(max + 1), 'é', null],
];
const whole = (min: number, max: number): Values => [
  [min, max],
  [min - 1, max + 1, min + 0.5, `${min}`, null, []],
];
const orNull = ([accepted, rejected]: Values): Values => [
  [...accepted, null],
  rejected.filter((value) => value !== null),
];
const words = (...known: string[]): Values => [known, ['', 'unknown', `${known[0]} `, null, known]];
const time: Values = [
  ['2030-01-31T12:00:00Z', '9999-12-31T23:59:59.999Z', '2030-01-31T12:00+01:00', '2030-01-31t12:00:60.5z'],
  ['2030-01-31', '2030-02-30T12:00:00Z', '1969-12-31T23:59:59Z', '2030-01-31T12:00:00 01:00', 'tomorrow', 1, ''],
];
const list = (of: (i: number) => unknown, min: number, max: number, bad: readonly unknown[] = []): Values => [
  [many(min, of), many(max, of)],
  [...(min > 0 ? [[]] : []), many(max + 1, of), [of(0), of(0)], [null], of(0), null, ...bad.map((each) => [each])],
];
const openedConnection = (i: number) => ({ id: `c${i}`, node_id: 'n', user: 'u' });
const EVENT_TYPES = [
  ...['document.created', 'document.changed', 'document.deleted'],
  ...['sync.conflict', 'sync.completed', 'connection.lost'],
];
const LONGEST = `${many(8, () => 'a'.repeat(63)).join(':')}a`; // 512 characters
const NAMES = ['org:acme:doc', '.a', 'a'.repeat(64), many(16, () => 'a').join(':'), LONGEST];
const TOO_LONG = ['a'.repeat(65), many(17, () => 'a').join(':'), `a${LONGEST}`];
const NO_NAMES = ['', '.', '..', 'a b', 'a/b', 'ü', 'a::b', ':', ...TOO_LONG, null];
const documentKey: Values = [NAMES, [...NO_NAMES, '*', 'a:*']];
const pattern: Values = [
  [...NAMES, '*', 'a:*:b'],
  [...NO_NAMES, 'a*', '**', 'a:**'],
];
const patterns = (min: number) => list((i) => `d:${i}`, min, 32, pattern[1]);
const email: Values = [
  ['a@example.com', `${'a'.repeat(64)}@example.com`],
  ['', 'nobody', 'a@b', 'a b@example.com', 'a@example.com\n', `${'a'.repeat(65)}@example.com`, null],
];
const address: Values = [
  ['203.0.113.7', '2001:db8::1', '::ffff:203.0.113.7'],
  ['', '1', '0x7f.1', '203.0.113', '203.0.113.7/32', 'fe80::1%eth0', 'localhost', null],
];
const secret: Values = [
  ['x', '😀'.repeat(256)],
  ['', 'x'.repeat(257), 'a\nb', 'whsec_short', null],
];
const wide = (members: number) => Object.fromEntries(many(members, (i) => [`f${i}`, 0]));
const fields: Values = [
  [{}, { '': '' }, { a: null }, wide(1000)],
  [null, [], 'a', wide(1001)],
];
const publishedEvent = () => EXAMPLES.publishEvent.body;
const push = () => ({ op: 'delete', document_key: 'd', base_revision: 1 });
const known = (count: number) => Object.fromEntries(many(count, (i) => [`d${i}`, i]));
const onConflict = words('last_write_wins', 'keep_server', 'reject');
const webhook = {
  url: [['https://example.com/?a=1'], ['nothing', 'ftp://example.com/', 'https://user@example.com/#x', '', null]],
  events: list((i) => EVENT_TYPES[i % 6], 1, 6, ['unknown']),
  documents: patterns(0),
  headers: [
    [{}, { 'X-Tenant': 'acme' }],
    [{ 'X-Service-Event-Id': 'x' }, { 'not a name': 'y' }, { A: 'ü' }, { A: '' }, { A: null }, null],
  ],
  description: orNull([
    ['', '😀'.repeat(500)],
    ['x'.repeat(501), 'a\nb', 1],
  ]),
  max_per_second: orNull(whole(1, 500)),
} as const satisfies Record<string, Values>;

/** The members of each body, from the specification. */
const MEMBERS: Readonly<Partial<Record<Performed, Readonly<Record<string, Values>>>>> = {
  createKey: {
    type: words('admin', 'live', 'test', 'read'),
    name: text(100),
    expires_at: [time[0], [...time[1], null]],
  },
  changeKey: { name: orNull(text(100)) },
  rotateKey: { grace_seconds: whole(0, 86_400), expires_at: orNull(time) },
  setAllowlist: {
    cidrs: list((i) => `192.0.2.${i}`, 0, 100, [
      '192.0.2.1/33',
      '2001:db8::/129',
      '192.0.2',
      '*',
      ...address[1].slice(-2),
    ]),
  },
  createToken: {
    documents: [patterns(1)[0], [...patterns(1)[1], many(32, (i) => `${'a'.repeat(60)}:${i}`)]],
    permissions: list((i) => ['read', 'write'][i % 2], 1, 2, ['admin']),
    ttl: whole(1, 86_400),
    user: text(128),
  },
  createDashboardLink: {
    environment: words('live', 'sandbox'),
    role: words('viewer', 'editor'),
    expires_in: whole(60, 86_400),
    user: text(128),
  },
  verifyToken: {
    token: [
      ['', 'x'.repeat(8192)],
      ['x'.repeat(8193), 1, null],
    ],
    document_key: [
      ['', ' ', '\ud800', 'x'.repeat(4096)],
      ['x'.repeat(4097), 1, null],
    ],
    permission: words('read', 'write'),
    address,
  },
  changeProject: { name: text(100), emails: list((i) => `${i}@example.com`, 1, 5, email[1]) },
  confirmEmail: { email: [['works@example.com'], [...email[1], 'unknown@example.com']] },
  sendConfirmation: { email: [['new@example.com'], [...email[1], 'unknown@example.com']] },
  confirmAddress: {
    token: [
      ['', 'x'.repeat(1000), '\ud800'],
      ['x'.repeat(1001), 1, null],
    ],
  },
  createWebhook: { ...webhook, secret },
  changeWebhook: { ...webhook, status: words('enabled', 'disabled') },
  rotateSecret: { secret, grace_seconds: whole(0, 86_400) },
  recover: {
    since: time,
    until: time,
    types: list((i) => EVENT_TYPES[i % 6], 1, 6, ['unknown']),
    per_second: whole(1, 500),
    enable: [
      [true, false],
      [0, 'true', null],
    ],
  },
  publishEvents: {
    events: [
      [many(1, publishedEvent), many(100, publishedEvent)],
      [[], many(101, publishedEvent), [null], null],
    ],
  },
  putDocument: { fields },
  patchDocument: {
    fields,
    base_revision: [
      [0, 1],
      [-1, 0.5, '1', null],
    ],
    on_conflict: onConflict,
  },
  sync: {
    node_id: ascii(64),
    sync_id: [
      ['a', '_-', 'x'.repeat(64)],
      ['', 'a b', 'x'.repeat(65), null],
    ],
    pattern,
    patterns: patterns(0),
    push: [
      [[], many(25, push)],
      [many(26, push), null],
    ],
    known: [
      [{}, { 'a:b': 0 }, known(MAX_KNOWN)],
      [{ a: -1 }, { a: 0.5 }, { a: '1' }, known(MAX_KNOWN + 1), [], null],
    ],
    since: [[], [1, null]],
    cursor: [[], [1, null]],
    limit: whole(1, 100),
  },
  renewConnection: { node_id: ascii(64), document_key: documentKey, user: text(128), lease_seconds: whole(10, 900) },
  renewEngine: {
    lease_seconds: whole(10, 900),
    opened: [
      [[], many(499, openedConnection)],
      [many(501, openedConnection), [{ id: 'a b', node_id: 'n' }], [{ id: 'a' }], [null], {}, null],
    ],
    closed: [
      [[], many(499, (i) => ({ id: `c${i}`, lost: i % 2 === 0 }))],
      [many(501, (i) => ({ id: `c${i}` })), [{ id: 'c', lost: 1 }], [{}], null],
    ],
  },
};

/** The members that a request cannot omit. */
const REQUIRED: Readonly<Partial<Record<Performed, readonly string[]>>> = {
  createKey: ['type'],
  changeKey: ['name'],
  setAllowlist: ['cidrs'],
  createToken: ['documents', 'permissions', 'ttl'],
  createDashboardLink: ['role'],
  verifyToken: ['token'],
  confirmEmail: ['email'],
  sendConfirmation: ['email'],
  confirmAddress: ['token'],
  createWebhook: ['url', 'events'],
  publishEvents: ['events'],
  putDocument: ['fields'],
  patchDocument: ['fields'],
  sync: ['node_id', 'pattern', 'push'],
  renewConnection: ['node_id'],
  renewEngine: ['lease_seconds'],
};

/** Members that a request has in place of another one. The OpenAPI document does not express that one of them is required. */
const IN_PLACE_OF: Readonly<Partial<Record<Performed, Readonly<Record<string, string>>>>> = {
  sync: { patterns: 'pattern', since: 'known' },
};

/** The query parameters of all operations. A cursor has its own problem. */
const QUERY: Readonly<Record<string, Values>> = {
  environment: words('live', 'sandbox'),
  limit: [
    ['1', '100'],
    ['0', '101', '1.0', '1e1', ''],
  ],
  since: time,
  until: time,
  from: [[], time[1]],
  to: [['2026-01-31T12:00:00Z'], time[1]],
  by: words('hour', 'day'),
  group_by: words('webhook_id', 'at'),
  type: words(...EVENT_TYPES),
  include: [['outcome'], ['', 'Outcome', 'outcomes', 'outcome,outcome']],
  types: [
    [...EVENT_TYPES, EVENT_TYPES.join()],
    ['', 'unknown', 'document.changed,', 'document.changed, sync.conflict', 'document-changed', null],
  ],
  status: words('pending', 'retrying', 'succeeded', 'failed', 'canceled', 'skipped'),
  document_key: [NAMES, ['', 'a b', 'a:', '.', '*', ...TOO_LONG]],
  webhook_id: [[], ['', 'none']],
  actor: [['', 'x'.repeat(100)], ['x'.repeat(101)]],
  target: [['', 'x'.repeat(100)], ['x'.repeat(101)]],
  prefix: [
    ['.', ...NAMES],
    ['', 'a b', 'a:', '*', ...TOO_LONG],
  ],
};

/** Rejected values that the OpenAPI document allows, because JSON Schema cannot express their rules. */
const BEYOND_SCHEMA = /\\ud800|unknown@|ftp:|user@|X-Service-|192\.0\.2(\.1\/33)?"\]|::\/129|203\.0\.113"|a{60}:0/;

/** The violations that the OpenAPI document finds in a body, or in the value of a query parameter. */
function documentedViolations(id: Performed, value: unknown, parameter?: string): string[] {
  const { method, path } = operations[id];
  const place = ['paths', path, method.toLowerCase()];
  const json = JSON.parse(JSON.stringify(value));
  if (parameter === undefined)
    return violationsOf(json, ...place, 'requestBody', 'content', 'application/json', 'schema');
  const { parameters } = openApi.paths[path]?.[method.toLowerCase()] as { parameters: Parameter[] };
  const i = parameters.findIndex(({ name }) => name === parameter);
  if (i < 0) return ['is unknown'];
  const type = parameters[i]?.schema.type;
  const parsed = type === 'array' ? [json] : type === 'integer' && /^\d+$/.test(json) ? Number(json) : json;
  return violationsOf(parsed, ...place, 'parameters', i, 'schema');
}

/** The OpenAPI document has no format for some forms of times and URLs that the service accepts. */
const isSerious = (violation: string): boolean => !/ match format /.test(violation);

const violationsIn = async (answer: ReturnType<typeof perform>): Promise<string[]> =>
  ((await answer).body?.errors ?? []).map(({ field }: { field: string }) => field);
/** The member of the body in which a violation is. */
const memberOf = (field = ''): string => field.split(/[.[]/)[0] ?? '';

describe('the service and the OpenAPI document', () => {
  const bodies = Object.entries(MEMBERS) as [Performed, Readonly<Record<string, Values>>][];

  it.each(bodies)('accept only the members and values of the specification: %s', async (id, members) => {
    const scene = await newScene(id);
    const { body: schema } = operations[id] as Operation;
    expect(Object.keys((schema as unknown as { entries: object }).entries).sort()).toEqual(Object.keys(members).sort());
    for (const [name, values] of Object.entries(members)) {
      const isRequired = REQUIRED[id]?.includes(name);
      const [accepted, rejected] = isRequired ? values : orNull(values);
      const replaced = IN_PLACE_OF[id]?.[name];
      const membersWith = (value: unknown) => ({ [name]: value, ...(replaced && { [replaced]: undefined }) });
      const isReplaceable = Object.values(IN_PLACE_OF[id] ?? {}).includes(name);
      for (const value of isRequired ? [...rejected, undefined] : rejected) {
        const members = membersWith(value);
        const send = () => perform(scene, id, { members });
        const answer = await withoutEffect(scene, send);
        const label = `${name} ${JSON.stringify(value)?.slice(0, 80)}: ${answer.text.slice(0, 300)}`;
        expect([answer.status, answer.body.code], label).toEqual([400, 'invalid_request']);
        expect(memberOf(answer.body.errors[0].field), label).toBe(name);
        const isBeyondSchema =
          BEYOND_SCHEMA.test(JSON.stringify(value) ?? '') || (isReplaceable && (value ?? undefined) === undefined);
        if (!isBeyondSchema) expect(documentedViolations(id, bodyOf(scene, id, { members })), label).not.toEqual([]);
      }
      for (const value of isRequired ? accepted : [...accepted, undefined]) {
        const label = `${name} ${JSON.stringify(value)?.slice(0, 80)}`;
        const members = membersWith(value);
        expect((await violationsIn(perform(scene, id, { members }))).map(memberOf), label).not.toContain(name);
        expect(documentedViolations(id, bodyOf(scene, id, { members })).filter(isSerious), label).toEqual([]);
      }
    }
  });

  it.each(changing)('reject an unknown member: %s', async (id) => {
    const scene = await newScene(id);
    const answer = await withoutEffect(scene, () => perform(scene, id, { members: { unknown: 1 } }));
    expect(answer.body.errors).toContainEqual({ field: 'unknown', detail: 'is not a known field' });
  });

  it.each(performed)('accept only the query parameters and values of the specification: %s', async (id) => {
    const scene = await newScene(id);
    const ofCredential = operations[id].callers === 'anyone' ? [] : ['environment'];
    const names = [...ofCredential, ...Object.keys(operations[id].query)].filter((name) => name !== 'cursor');
    for (const name of [...names, 'unknown']) {
      const [accepted, rejected] = QUERY[name] ?? [[], ['1']];
      const send = (value: unknown) => perform(scene, id, { query: `?${name}=${encodeURIComponent(String(value))}` });
      for (const value of rejected.filter((each) => each !== null && String(each).isWellFormed())) {
        expect(await violationsIn(withoutEffect(scene, () => send(value))), `${name} ${value}`).toEqual([name]);
        expect(documentedViolations(id, value, name), `${name} ${value}`).not.toEqual([]);
      }
      for (const value of accepted) {
        expect(await violationsIn(send(value)), `${name} ${value}`).not.toContain(name);
        expect(documentedViolations(id, value, name).filter(isSerious), `${name} ${value}`).toEqual([]);
      }
    }
  });
});
