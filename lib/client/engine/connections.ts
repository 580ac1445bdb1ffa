import type { ConnectionOptions, Grant } from './grant.ts';
import type { engineLease } from './lease.ts';

interface Options {
  lease: Pick<ReturnType<typeof engineLease>, 'open' | 'close'>;
  nodeId: string;
  /** Requests the current keys and revocations. */
  refresh(): Promise<unknown>;
  log(message: string): void;
}

const MIN_SECONDS = 1;
const MAX_SECONDS = 10;

/** The open connections of an engine. Each one ends when its token has expired or was revoked. */
export function openConnections({ lease, nodeId, refresh, log }: Options) {
  const connections = new Map<string, ConnectionOptions>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isUnknown = false;

  /** Checks each token again. Without a response of the service, connections stay open until their tokens expire. */
  async function check(): Promise<void> {
    let nextSeconds = MAX_SECONDS;
    for (const [id, { grant }] of connections) if (Date.now() >= Date.parse(grant.expires_at)) end(id);
    try {
      await refresh().catch(() => {}); // a check throws if the keys are too old
      for (const [id, { grant }] of connections) {
        const { active, allowed, cache_seconds = MIN_SECONDS } = await grant.verifyAgain();
        if (!active || !allowed) end(id);
        else nextSeconds = Math.min(nextSeconds, Math.max(MIN_SECONDS, cache_seconds));
      }
      isUnknown = false;
    } catch (error) {
      if (!isUnknown) log(`Open connections stay without a check of their tokens: ${(error as Error).message}`);
      isUnknown = true;
    }
    timer = undefined;
    watch(nextSeconds);
  }

  function watch(seconds = MAX_SECONDS): void {
    if (connections.size > 0) timer ??= setTimeout(check, seconds * 1000);
  }

  function end(id: string): void {
    const connection = connections.get(id);
    if (!connections.delete(id)) return;
    lease.close(id, false);
    try {
      connection?.onEnd('The token of the connection has expired or was revoked.');
    } catch (error) {
      log(`A connection cannot be ended: ${(error as Error).message}`);
    }
  }

  return {
    connected(options: ConnectionOptions): string {
      const id = crypto.randomUUID();
      const { document_key, node_id = nodeId, grant } = options;
      const user = grant.user ?? undefined;
      connections.set(id, options);
      lease.open({
        id,
        node_id,
        ...(document_key !== undefined && { document_key }),
        ...(user !== undefined && { user }),
      });
      watch();
      return id;
    },
    renewed(id: string, grant: Grant): void {
      const connection = connections.get(id);
      if (connection) connections.set(id, { ...connection, grant });
    },
    disconnected(id: string, { lost = false } = {}): void {
      if (connections.delete(id)) lease.close(id, lost);
    },
    end(): void {
      clearTimeout(timer);
      connections.clear();
    },
  };
}
