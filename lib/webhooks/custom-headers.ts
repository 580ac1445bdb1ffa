import * as v from 'valibot';
import { isJsonObject } from '../json.ts';

/** Headers of a webhook's own, and what their names and values may have in all. */
export const MAX_HEADERS = 10;
export const MAX_HEADERS_BYTES = 2048;

export type CustomHeaders = { [name: string]: string };

// Tokens of RFC 9110 §5.6.2, and values of visible ASCII with spaces between (§5.5).
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

// Set by every attempt (interface §5.1), by HTTP itself, or of one connection only (RFC 9110 §7.6.1).
const RESERVED =
  /^(content-type|content-length|user-agent|host|x-service-.*|webhook-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect)$/i;

/** What is wrong with one header; `null` if nothing is. */
function violationOf(name: string, value: unknown, names: readonly string[]): string | null {
  if (!NAME.test(name)) return "must have a name of letters, digits and !#$%&'*+.^_`|~-";
  if (RESERVED.test(name)) return 'is a header that every attempt or HTTP itself sets';
  if (names.filter((each) => each.toLowerCase() === name.toLowerCase()).length > 1) return 'is a duplicate';
  if (typeof value !== 'string' || !VALUE.test(value)) return 'must be printable ASCII without spaces around it';
  return null;
}

export const CustomHeaders = v.pipe(
  v.custom<CustomHeaders>(isJsonObject, 'must be an object'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const headers = dataset.value;
    const names = Object.keys(headers);
    const bytes = names.reduce((sum, name) => sum + name.length + String(headers[name]).length, 0);
    if (names.length > MAX_HEADERS) addIssue({ message: `must have at most ${MAX_HEADERS} entries` });
    if (bytes > MAX_HEADERS_BYTES) addIssue({ message: `must have at most ${MAX_HEADERS_BYTES} bytes in all` });
    for (const name of names) {
      const message = violationOf(name, headers[name], names);
      const path = { type: 'object', origin: 'value', input: headers, key: name, value: headers[name] } as const;
      if (message) addIssue({ message, path: [path] });
    }
  }),
  v.metadata({
    jsonSchema: {
      type: 'object',
      additionalProperties: { type: 'string', pattern: VALUE.source },
      propertyNames: { pattern: NAME.source },
      maxProperties: MAX_HEADERS,
    },
  }),
);

/** Their names. The values are credentials of the endpoint, as often as not. */
export const masked = (headers: CustomHeaders = {}): CustomHeaders =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, '***']));
