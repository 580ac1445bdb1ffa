import { readDelivery } from '../commands/received.ts';
import { startLocalReceiver } from './receiver.ts';

export type DemoReceiver = Awaited<ReturnType<typeof startDemoReceiver>>;

/**
 * Starts an endpoint like that of a customer. It verifies the signature of each request, prints the request, and returns 204. Port
 * 0 selects any free port.
 */
export async function startDemoReceiver(secret: string, port: number, print: (line: string) => void) {
  const receiver = await startLocalReceiver(port, '--receiver-port', ({ headers }, body) => {
    const { verified, line } = readDelivery(secret, headers, body);
    print(line);
    return verified ? 204 : 401;
  });
  return { ...receiver, url: `http://127.0.0.1:${receiver.port}/webhooks` };
}
