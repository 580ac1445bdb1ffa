import type { IncomingMessage } from 'node:http';

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Whether a request names this machine as its host. A web page can make its own host name resolve to 127.0.0.1 and then read
 * local servers (DNS rebinding). Its requests still contain that host name.
 */
export function namesThisMachine(
  { headers }: Pick<IncomingMessage, 'headers'>,
  others: readonly string[] = [],
): boolean {
  const host = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
  return LOOPBACK.includes(host) || others.includes(host);
}
