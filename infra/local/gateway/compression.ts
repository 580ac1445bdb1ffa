import { gunzipSync, gzipSync, inflateSync } from 'node:zlib';

/**
 * Payload compression of REST APIs (API Gateway Developer Guide, "Payload compression for REST APIs"). `minimumBytes` is the
 * smallest response to compress. Without it, nothing is compressed.
 */
export function createCompression(minimumBytes: number | undefined, maxBytes: number) {
  const isOn = minimumBytes !== undefined;
  return {
    /** Returns the body of a request as the function receives it, or `null` if it is too large or unreadable. */
    decode(body: Buffer, encoding: string | undefined): Buffer | null {
      if (!isOn || encoding === undefined || encoding === 'identity') return body;
      try {
        const options = { maxOutputLength: maxBytes };
        if (encoding === 'gzip') return gunzipSync(body, options);
        return encoding === 'deflate' ? inflateSync(body, options) : null;
      } catch {
        return null;
      }
    },
    /** Returns the body of a response as the client receives it, with the matching headers. */
    encode(body: Buffer, accepted = ''): { body: Buffer; headers: Record<string, string> } {
      const headers: Record<string, string> = {};
      if (!isOn || body.length < minimumBytes || !/\bgzip\b/.test(accepted)) return { body, headers };
      return { body: gzipSync(body), headers: { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' } };
    },
  };
}
