import http from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Answer } from '../../support/service.ts';

/** A raw request. Only `Host` and the framing of the body are added, and nothing is escaped. */
export interface RawRequest {
  method: string;
  /** The request target, with any printable ASCII except `#`. */
  target: string;
  /** Headers in order, with possible duplicates. Values are bytes in Latin-1. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer | null;
  /** Without a `Content-Length`. */
  chunked: boolean;
}

/** Sends the request to a server on this machine. Rejects without a response. */
export function sendRaw(baseUrl: string, { method, target, headers, body, chunked }: RawRequest): Promise<Answer> {
  const { hostname, port, host } = new URL(baseUrl);
  const framing = chunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(body?.length ?? 0)];
  const options = {
    ...{ hostname, port, method, path: target },
    headers: ['Host', host, ...headers.flat(), ...(body === null ? [] : framing)],
    agent: false, // the other end can close a reused connection
  };
  return new Promise((resolve, reject) => {
    const request = http.request(options, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const received = Buffer.concat(chunks);
      const text = (response.headers['content-encoding'] === 'gzip' ? gunzipSync(received) : received).toString();
      const isJson = response.headers['content-type']?.includes('json') && text !== '';
      const body = isJson ? JSON.parse(text) : undefined;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body });
    });
    request.on('error', reject).end(body);
  });
}

/** Formats the request for a shell. Bodies with bytes that a shell cannot pass are in hexadecimal. */
export function asCurl({ method, target, headers, body }: RawRequest): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const parts = ['curl', '--path-as-is', '-g', '-X', method, quoted(`$BASE${target}`).replace("'$BASE", "$BASE'")];
  for (const [name, value] of headers) parts.push('-H', quoted(value === '' ? `${name};` : `${name}: ${value}`));
  if (body === null) return parts.join(' ');
  const text = body.toString();
  const isText = Buffer.from(text).equals(body) && !text.includes('\0');
  const shown = text.length > 2000 ? `${text.slice(0, 1000)}…${text.length - 2000} more…${text.slice(-1000)}` : text;
  if (isText) return [...parts, '--data-binary', quoted(shown)].join(' ');
  return [`echo ${body.subarray(0, 1000).toString('hex')} | xxd -r -p |`, ...parts, '--data-binary', '@-'].join(' ');
}
