import type { IncomingMessage } from 'node:http';

/** The maximum size of the request line and all headers (API Gateway quotas for REST APIs). */
const MAX_HEADER_BYTES = 10_240;
/** Characters of a query string that clients must URL-encode (API Gateway Developer Guide, "Important notes for REST APIs"). */
const REFUSED_IN_QUERY = /[|{}]/;

/** Whether API Gateway accepts the request line and the headers. */
export const isAccepted = (request: IncomingMessage): boolean =>
  headerBytes(request) <= MAX_HEADER_BYTES && !REFUSED_IN_QUERY.test(splitUrl(request.url).query);

export function splitUrl(url = '/'): { path: string; query: string } {
  const end = url.indexOf('?');
  return end < 0 ? { path: url, query: '' } : { path: url.slice(0, end), query: url.slice(end + 1) };
}

/** The parameters of a query string. A semicolon separates them too (API Gateway Developer Guide, "Important notes for REST APIs"). */
export const parametersOf = (query: string): [name: string, value: string][] => [
  ...new URLSearchParams(query.replaceAll(';', '&')),
];

function headerBytes({ rawHeaders, url = '' }: IncomingMessage): number {
  return rawHeaders.reduce((sum, part) => sum + part.length + 2, url.length);
}
