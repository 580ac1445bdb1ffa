import type { IncomingHttpHeaders } from 'node:http';
import { constants, gunzipSync, inflateSync } from 'node:zlib';
import { printable } from '../printable.ts';

/** Bytes of a response that are kept. */
export const EXCERPT_BYTES = 1024;

/**
 * The first KiB of a response as text without control or direction characters, decoded by its `charset`. `null` if it is empty.
 *
 * @param body The start of the body, with at least one more byte if it is longer than the excerpt.
 */
export function excerptOf(body: Buffer, headers: IncomingHttpHeaders = {}): string | null {
  if (body.length === 0) return null;
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  const plain = coding === 'identity' ? body : inflated(body, coding);
  if (!plain) return `(${printable(coding).slice(0, 40)})`;
  // `stream` omits an incomplete character at the end.
  const isCut = plain.length > EXCERPT_BYTES || (plain !== body && body.length > EXCERPT_BYTES);
  const text = decoderFor(headers['content-type']).decode(plain.subarray(0, EXCERPT_BYTES), { stream: isCut });
  return printable(text);
}

const INFLATE = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
]);

/**
 * The start of a compressed body. 1 KiB of deflate has at most 1 MB (RFC 1951), so a bomb costs a millisecond. Other codings, such
 * as Brotli, have no such bound.
 */
function inflated(body: Buffer, coding: string): Buffer | undefined {
  try {
    const plain = INFLATE.get(coding)?.(body, { finishFlush: constants.Z_SYNC_FLUSH });
    return plain?.length === 0 ? undefined : plain;
  } catch {
    return undefined; // not what the header says
  }
}

function decoderFor(contentType = ''): TextDecoder {
  const [, charset] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder(); // an unknown name
  }
}
