import * as v from 'valibot';

const TAG = '(\\*|(W/)?"[^"*]*")';
// A list can have empty elements (RFC 9110 §5.6.1.2).
const TAGS = new RegExp(`^[ \\t,]*${TAG}([ \\t]*,[ \\t,]*${TAG})*[ \\t,]*$`);

/**
 * The precondition of a write. A tag without quotes and `"*"` never match, so such an `If-None-Match` would let the write replace
 * what it must not replace, and such an `If-Match` would fail forever.
 */
export const entityTags = v.pipe(
  v.string('must be a text'),
  v.regex(TAGS, 'must be * or ETags in double quotes, as the service returns them, such as "3"'),
);

/**
 * Whether a header of a conditional request names the ETag of a resource that exists. `*` names every one (RFC 9110 §13.1.1 and
 * §13.1.2). If-None-Match compares weakly. If-Match compares strongly, so a weak tag never matches (RFC 9110 §8.8.3.2).
 */
export function namesTag(
  header: string | undefined,
  etag: string | undefined,
  comparison: 'weak' | 'strong' = 'weak',
): boolean {
  if (header === undefined || etag === undefined) return false;
  const tags = header.split(',').map((tag) => tag.trim());
  return tags.some((tag) => tag === '*' || (comparison === 'weak' ? tag.replace(/^W\//, '') : tag) === etag);
}

/** Whether a resource with this ETag meets `If-Match` and `If-None-Match`. `undefined`: it does not exist. */
export function meets(headers: Readonly<Record<string, string>>, etag: string | undefined): boolean {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  return (ifMatch === undefined || namesTag(ifMatch, etag, 'strong')) && !namesTag(ifNoneMatch, etag);
}
