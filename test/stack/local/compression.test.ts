import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createCompression } from '../../../infra/local/gateway/compression.ts';

const compression = createCompression(1024, 10_000);
const long = Buffer.from('a'.repeat(2000));

describe('the compression of the local gateway', () => {
  it('compresses long responses for clients that accept it', () => {
    const { body, headers } = compression.encode(long, 'br, gzip;q=0.8');
    expect(headers['Content-Encoding']).toBe('gzip');
    expect(gunzipSync(body)).toEqual(long);
  });

  it.each([
    ['short', Buffer.from('short'), 'gzip'],
    ['not asked for', long, undefined],
    ['asked for in another way', long, 'br'],
  ])('does not compress a response that is %s', (_name, body, accepted) => {
    expect(compression.encode(body, accepted)).toEqual({ body, headers: {} });
  });

  it('reads compressed requests, up to their limit', () => {
    expect(compression.decode(gzipSync(long), 'gzip')).toEqual(long);
    expect(compression.decode(gzipSync(Buffer.alloc(20_000)), 'gzip')).toBeNull();
    expect(compression.decode(Buffer.from('not gzip'), 'gzip')).toBeNull();
  });

  it('does nothing if the template does not enable it', () => {
    const none = createCompression(undefined, 10_000);
    expect(none.encode(long, 'gzip')).toEqual({ body: long, headers: {} });
    expect(none.decode(long, 'gzip')).toEqual(long);
  });
});
