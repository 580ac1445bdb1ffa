import tls from 'node:tls';
import type { Run } from './run.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Connects with one TLS version, and returns `accepted` or the reason for the rejection. */
export function handshake({ baseUrl, ca }: Run, version: tls.SecureVersion): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const versions = { minVersion: version, maxVersion: version };
  return new Promise((resolve) => {
    const options = { host: hostname, port: Number(port || 443), servername: /[a-z]/.test(hostname) ? hostname : '' };
    const socket = tls.connect({ ...options, ...versions, ...(ca !== undefined && { ca }) }, () => settle('accepted'));
    const settle = (outcome: string) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.setTimeout(HANDSHAKE_TIMEOUT_MS, () => settle('timeout'));
    socket.on('error', ({ message }) => settle(message));
  });
}
