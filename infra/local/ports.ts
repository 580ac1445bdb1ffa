import http from 'node:http';
import { UserError } from '../user-error.ts';

/**
 * Listens on loopback. Port 0 selects any free port. `option` is the command-line option that can change the port. Without `option`,
 * the port is fixed, because kept webhooks call it.
 */
export function listen(server: http.Server, port: number, option?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const remedy = option ? `, or choose another port with ${option}` : ', because the kept webhooks call this port';
      const reason = option ? `. Choose another port with ${option}` : ', which the kept webhooks call';
      const messages: Record<string, string> = {
        EADDRINUSE: `Port ${port} is already in use. Stop the process that uses it${remedy}.`,
        EACCES: `This user cannot listen on port ${port}${reason}.`,
      };
      const message = messages[error.code ?? ''];
      reject(message ? new UserError(message) : error);
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** Fails immediately if a port is in use, before the stack starts. */
export async function requireFreePort(port: number, option?: string): Promise<void> {
  const probe = http.createServer();
  await listen(probe, port, option);
  await new Promise((resolve) => probe.close(resolve));
}
