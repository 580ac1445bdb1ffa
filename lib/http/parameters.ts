import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { check, clipped, type Violation } from '../schema.ts';
import { linesOf, lowerCased } from './headers.ts';
import { idempotencyHeader, type Operation } from './operation.ts';

const repeatedViolation = (name: string): Violation => ({ field: clipped(name), detail: 'is given more than once' });

/** The query parameters, and the violations of those that are repeated. Only a parameter whose schema accepts a list can be repeated. */
export function queryOf({ multiValueQueryStringParameters }: APIGatewayProxyEvent, schemas: v.ObjectEntries) {
  const given = Object.entries(multiValueQueryStringParameters ?? {}).map(([name, values = []]) => ({ name, values }));
  const isRepeatable = (name: string) => Object.hasOwn(schemas, name) && v.is(schemas[name] as v.GenericSchema, []);
  const isSingle = ({ name, values }: (typeof given)[number]) => values.length === 1 || isRepeatable(name);
  return {
    values: Object.fromEntries(
      given.filter(isSingle).map(({ name, values }) => [name, values.length === 1 ? values[0] : values]),
    ),
    repeated: given.filter((each) => !isSingle(each)).map(({ name }) => repeatedViolation(name)),
  };
}

/** The headers that are lists. They can have several lines (RFC 9110 §5.3). */
const LISTS = ['if-match', 'if-none-match'];

/** The headers by lower-case name. Of a header that is no list, only the last line. */
export function headersOf({ headers, multiValueHeaders }: APIGatewayProxyEvent): Record<string, string> {
  const lists = LISTS.map((name) => ({ name, lines: linesOf(multiValueHeaders, name) }));
  const given = lists.filter(({ lines }) => lines.length > 0).map(({ name, lines }) => [name, lines.join(', ')]);
  return { ...lowerCased(headers), ...Object.fromEntries(given) };
}

const schemasOf = ({ headers, idempotencyKey }: Operation): v.ObjectEntries => ({
  ...headers,
  ...(idempotencyKey && idempotencyHeader),
});

/** The violations of headers that have one value, but several lines. */
export function repeatedHeaders(operation: Operation, event: APIGatewayProxyEvent): Violation[] {
  const names = [...Object.keys(schemasOf(operation)), ...(hasContent(event) ? ['Content-Type'] : [])];
  const isRepeated = (name: string) => linesOf(event.multiValueHeaders, name).length > 1;
  return names.filter((name) => !LISTS.includes(name.toLowerCase()) && isRepeated(name)).map(repeatedViolation);
}

export function checkedHeaders(operation: Operation, received: Record<string, string>) {
  const schemas = schemasOf(operation);
  const values = Object.keys(schemas).map((name) => [name, received[name.toLowerCase()]]);
  return check(v.object(schemas), Object.fromEntries(values));
}

// The content of these methods has no meaning (RFC 9110 §9.3.1, §9.3.2).
export const hasContent = ({ httpMethod }: APIGatewayProxyEvent): boolean =>
  httpMethod !== 'GET' && httpMethod !== 'HEAD';
