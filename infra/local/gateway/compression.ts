import { gunzipSync, gzipSync, inflateSync } from 'node:zlib';

/** Payload compression of REST APIs (API Gateway Developer Guide, "Payload compression for REST APIs"). */
export interface Compression {
  /** The body of a request as the function gets it, or `null` if it has more bytes or cannot be read. */
  decode(body: Buffer, encoding: string | undefined): Buffer | null;
  /** The body of a response as the client gets it, with the headers that say so. */
  encode(body: Buffer, accepted: string | undefined): { body: Buffer; headers: Record<string, string> };
}

/** `minimumBytes`: what a response must have to be compressed; without it nothing is. */
export function createCompression(minimumBytes: number | undefined, maxBytes: number): Compression {
  const isOn = minimumBytes !== undefined;
  return {
    decode(body, encoding) {
      if (!isOn || encoding === undefined || encoding === 'identity') return body;
      try {
        const options = { maxOutputLength: maxBytes };
        if (encoding === 'gzip') return gunzipSync(body, options);
        return encoding === 'deflate' ? inflateSync(body, options) : null;
      } catch {
        return null;
      }
    },
    encode(body, accepted = '') {
      const headers: Record<string, string> = {};
      if (!isOn || body.length < minimumBytes || !/\bgzip\b/.test(accepted)) return { body, headers };
      return { body: gzipSync(body), headers: { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' } };
    },
  };
}
