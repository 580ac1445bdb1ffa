import * as v from 'valibot';
import { isJsonObject } from '../json.ts';
import { pathItem } from '../schema.ts';

/** The maximum number of custom headers, and of bytes in their names and values. */
export const MAX_HEADERS = 10;
export const MAX_HEADERS_BYTES = 2048;

/**
 * Stored headers. An object cannot be used, because customers choose the names and the document client of DynamoDB cannot store a
 * member called `constructor` or `__proto__`.
 */
export type HeaderList = readonly (readonly [name: string, value: string])[];

// Tokens of RFC 9110 §5.6.2, and values of visible ASCII with spaces between (§5.5).
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

const RESERVED = new RegExp(
  `^(${[
    // Every attempt sets these (interface §5.1).
    'content-type|content-length|user-agent|x-service-.*|webhook-.*',
    // HTTP sets these headers, or they apply to one connection only (RFC 9110 §7.6.1).
    'host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|expect|date|via',
    // These would change how a proxy or framework in front of the endpoint reads the request.
    'content-(encoding|length|range)|forwarded|x-forwarded|x-(forwarded|original|rewrite|http|amz|amzn)-.*',
    'x-(host|real-ip|client-ip|method-override|url-scheme)|(true|cf)-(client|connecting)-ip',
  ].join('|')})$`,
  'i',
);

/** The value of every header in responses. */
const MASKED_VALUE = '***';

/** The violation of one header, or `null`. */
function violationOf(name: string, value: unknown): string | null {
  if (!NAME.test(name)) return "must have a name of letters, digits and !#$%&'*+.^_`|~-";
  if (RESERVED.test(name)) return 'is a header that only the service, HTTP or a proxy may set';
  if (typeof value !== 'string' || !VALUE.test(value)) return 'must be printable ASCII without spaces around it';
  if (value === MASKED_VALUE)
    return 'is masked in responses: send its actual value, or omit headers to keep all of them';
  return null;
}

export const CustomHeaders = v.pipe(
  v.custom<{ [name: string]: string }>(isJsonObject, 'must be an object'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const headers = dataset.value;
    const names = Object.keys(headers);
    if (names.length > MAX_HEADERS) return addIssue({ message: `must have at most ${MAX_HEADERS} entries` });
    const bytes = names.reduce((sum, name) => sum + name.length + String(headers[name]).length, 0);
    if (bytes > MAX_HEADERS_BYTES) addIssue({ message: `must have at most ${MAX_HEADERS_BYTES} bytes in all` });
    const seen = new Set<string>();
    for (const name of names) {
      const isDuplicate = seen.size === seen.add(name.toLowerCase()).size;
      const message = violationOf(name, headers[name]) ?? (isDuplicate ? 'is a duplicate' : null);
      if (message) addIssue({ message, path: [pathItem(headers, name)] });
    }
  }),
  v.transform((headers): HeaderList => Object.entries(headers)),
  v.metadata({
    jsonSchema: {
      type: 'object',
      additionalProperties: { type: 'string', pattern: VALUE.source },
      propertyNames: { pattern: NAME.source },
      maxProperties: MAX_HEADERS,
    },
  }),
);

/** The names, without the values, which are often credentials of the endpoint. */
export const masked = (headers: HeaderList = []): HeaderList => headers.map(([name]) => [name, MASKED_VALUE]);
