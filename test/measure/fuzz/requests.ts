import fc from 'fast-check';
import { type CallerType, isFor, type Operation } from '../../../lib/api/operation.ts';
import { type OperationId, operations } from '../../../lib/api/operations.ts';
import { EXAMPLES } from '../../../lib/openapi/examples.ts';
import { hostileBodies, type RawBody } from './bodies.ts';
import * as hostile from './hostile.ts';
import type { Known } from './known.ts';
import { asCurl, type RawRequest } from './raw-http.ts';

/** A request for an operation. */
export interface FuzzRequest extends RawRequest {
  operationId: OperationId;
}

/**
 * API Gateway accepts 10,240 bytes of request line and headers (quotas of REST APIs). `Host` and framing are not included here.
 */
const MAX_HEAD_BYTES = 10_000;

/** The invalid part of a request. Requests with one invalid part pass more checks than requests with many. */
const FOCUSES = ['caller', 'path', 'query', 'headers', 'everything', 'body', 'body', 'body'] as const;
type Focus = (typeof FOCUSES)[number];

/** A request to an operation, which equals its example except for the part in focus. */
export const requests = (known: Known): fc.Arbitrary<FuzzRequest> =>
  fc
    .constantFrom(...(Object.entries(operations) as [OperationId, Operation][]))
    .chain(([id, { method }]) => {
      const focuses = method === 'GET' ? FOCUSES.filter((each) => each !== 'body') : FOCUSES;
      return fc.constantFrom(...focuses).chain((focus) => requestsTo(id, focus, known));
    })
    .filter(
      ({ target, headers }) =>
        headers.flat().reduce((sum, each) => sum + each.length + 2, target.length) < MAX_HEAD_BYTES,
    );

function requestsTo(id: OperationId, focus: Focus, known: Known): fc.Arbitrary<FuzzRequest> {
  const operation: Operation = operations[id];
  const has = (part: Focus) => focus === part || focus === 'everything';
  const json = JSON.stringify(EXAMPLES[id].body);
  const example = json && JSON.parse(json.replaceAll(/"https:\/\/[^"]*"/g, JSON.stringify(known.endpointUrl)));
  const bearers = Object.entries(known.bearers);
  const own = bearers.filter(([type]) => isFor(operation, type as CallerType)).map(([, bearer]) => bearer);
  const all = [...bearers.map(([, bearer]) => bearer), ...hostile.CREDENTIALS];
  return fc
    .record({
      path: paths(operation, has('path'), known),
      query: has('query') ? queries(Object.keys(operation.query)) : fc.constant(''),
      credential: fc.constantFrom(...(has('caller') || own.length === 0 ? all : own)),
      headers: has('headers')
        ? fc.array(fc.constantFrom(...hostile.HEADERS), { minLength: 1, maxLength: 3 })
        : fc.constant([]),
      body: has('body') ? hostileBodies(example) : fc.constant(bodyOf(example)),
      chunked: fc.boolean(),
    })
    .map(({ path, query, credential, headers, body: { bytes, contentType }, chunked }) => ({
      operationId: id,
      method: operation.method,
      target: path + query,
      headers: [
        ...(credential === '' ? [] : [['Authorization', credential] as const]),
        ...(contentType === null ? [] : [['Content-Type', contentType] as const]),
        ...headers,
      ],
      body: bytes,
      chunked,
    }))
    .map((request) => ({ ...request, [fc.toStringMethod]: () => asCurl(request) }));
}

const bodyOf = (example: unknown): RawBody =>
  example === undefined
    ? { bytes: null, contentType: null }
    : { bytes: Buffer.from(JSON.stringify(example)), contentType: 'application/json' };

/** The path with its parameters. Sometimes it has too many or too few segments. */
function paths({ method, path }: Operation, isHostile: boolean, { ids }: Known): fc.Arbitrary<string> {
  const parts = path.split('/');
  const segments = parts.map((segment, i) => {
    if (!segment.startsWith('{')) return fc.constant(segment);
    const collection = parts
      .slice(0, i)
      .join('/')
      .replace(/\{\w+\}/, '*');
    const own = ids[`${method} ${collection}`] ?? ids[collection] ?? hostile.SENT_TEXTS;
    const known = fc.constantFrom(...own);
    if (!isHostile) return known;
    const others = method === 'DELETE' ? own : Object.values(ids).flat();
    const text = fc.string({ unit: 'binary', maxLength: 80 }).map((each) => encodeURIComponent(each.toWellFormed()));
    return fc.oneof(
      fc.constantFrom(...hostile.SENT_TEXTS),
      fc.constantFrom(...hostile.SENT_TEXTS, ...others),
      known,
      text,
    );
  });
  const whole = fc.tuple(...segments).map((each) => each.join('/'));
  if (!isHostile) return whole;
  const wrong = fc.constantFrom('/', '//', '/..', '/%2e%2e', '/a');
  return fc.oneof(
    { weight: 9, arbitrary: whole },
    fc.tuple(whole, wrong).map((each) => each.join('')),
  );
}

function queries(names: readonly string[]): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('environment', ...names) },
    fc.constantFrom(...hostile.QUERY_NAMES),
  );
  const pair = fc.tuple(name, fc.constantFrom(...hostile.SENT_TEXTS)).map((parts) => parts.join('='));
  const pairs = fc.array(pair, { minLength: 1, maxLength: 4 }).map((some) => `?${some.join('&')}`);
  return fc.oneof({ weight: 4, arbitrary: pairs }, fc.constantFrom('?', '?&&', '?=', '?a', '??', '?%'));
}
