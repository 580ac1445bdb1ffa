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
    'content-(encoding|length|range)|range|cookie|forwarded|x-forwarded|x-(forwarded|original|rewrite|http|amz|amzn)-.*',
    'x-(host|method-override|url-scheme)',
    // With these, proxies state the address of a client.
    '(.*-)?(client|real|connecting|connection)-?ip(v6)?|(x-)?remote-.*|x-(azure|envoy)-.*|x-vercel-(forwarded|ip)-.*|cf-ipcountry',
    // With these, proxies state who a client is.
    '(x-)?ssl-.*|x-client-cert.*|x-(auth-request|webauth|ms-client|goog-authenticated)-.*|cf-access-authenticated-.*',
  ].join('|')})$`,
);

/**
 * The name as CGI, Rack and PHP read it: in lower case, and with a hyphen for each symbol. They pass `X-A` and `X_A` to a
 * program as one variable (RFC 3875 §4.1.18).
 */
const asRead = (name: string) => name.toLowerCase().replace(/[^0-9a-z]/g, '-');

/** The value of every header in responses. */
const MASKED_VALUE = '***';

/** The violation of one header, or `null`. */
function violationOf(name: string, value: unknown): string | null {
  if (!NAME.test(name)) return "must have a name of letters, digits and !#$%&'*+.^_`|~-";
  if (RESERVED.test(asRead(name)))
    return 'is a header that only the service, HTTP or a proxy may set. Many servers read _ as -';
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
      const isDuplicate = seen.size === seen.add(asRead(name)).size;
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
