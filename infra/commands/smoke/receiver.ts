import { type LocalReceiver, startLocalReceiver } from '../../local/receiver.ts';

export interface Received {
  /** The path and query. */
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: the checks verify its content
  json: any;
}

/** A server on this machine that receives deliveries. */
export interface Receiver extends LocalReceiver {
  readonly received: readonly Received[];
}

/** Listens on loopback, because the service connects to a tunnel. Port 0 selects any free port. */
export async function startReceiver(port: number): Promise<Receiver> {
  const received: Received[] = [];
  const receiver = await startLocalReceiver(port, '--listen', ({ url = '', headers }, body) => {
    received.push({ url, headers: headers as Record<string, string>, body, json: jsonOf(body) });
    return 204;
  });
  return { ...receiver, received };
}

// A tunnel is public, so the body can be anything.
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
}
