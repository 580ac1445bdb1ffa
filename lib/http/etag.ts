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
