import type { Client } from './client.ts';
import type { Promised } from './invariants.ts';
import type { Response } from './requests.ts';

/** What an engine knows about one of its connections. */
export interface EngineConnection {
  /** When the lease was opened that has the connection. Without it, no response said so. */
  openedAt?: number;
  /** The engine asked to close the connection. */
  isClosing?: boolean;
  /** A response confirmed that the connection closed without a loss. */
  isClosed?: boolean;
}

interface Engine {
  id: string;
  openedAt: number | undefined;
  open: Set<string>;
  /** The requests of an engine follow each other. */
  running: Promise<unknown>;
}

/** Sync engines that keep a lease for their connections, and repeat each request until they know its result. */
export class Engines {
  private readonly client: Client;
  private readonly promised: Promised;
  private readonly engines: Engine[] = [];
  private names = 0;

  constructor(client: Client, promised: Promised) {
    this.client = client;
    this.promised = promised;
    for (let i = 0; i < 2; i++) this.engines.push(this.start());
  }

  renew(): Promise<unknown> {
    const engine = this.client.world.pick(this.engines);
    engine.running = engine.running.then(() => this.renewOne(engine));
    return engine.running;
  }

  close(): Promise<unknown> {
    const engine = this.client.world.pick(this.engines);
    engine.running = engine.running.then(async () => {
      for (const id of engine.open) this.known(id).isClosing = true;
      await this.client.untilKnown(() => this.send('DELETE', engine));
      this.replace(engine);
    });
    return engine.running;
  }

  private async renewOne(engine: Engine): Promise<void> {
    const { world } = this.client;
    const opened = Array.from({ length: world.pick([0, 1, 2]) }, () => `socket-${this.names++}`);
    const closed = [...engine.open]
      .filter(() => world.pick([true, false, false]))
      .map((id) => ({ id, lost: world.pick([true, false]) }));
    for (const id of opened) this.promised.engineConnections.set(id, {});
    for (const { id } of closed) this.known(id).isClosing = true;
    const body = {
      lease_seconds: world.pick([10, 60, 900]),
      opened: opened.map((id) => ({ id, node_id: 'n1', document_key: 'd' })),
      closed,
    };
    const response = await this.client.untilKnown(() => this.send('PUT', engine, body));
    if (response?.status !== 200) return this.replace(engine);
    const openedAt = Date.parse((response.body as { opened_at: string }).opened_at);
    const isSame = engine.openedAt === undefined || engine.openedAt === openedAt;
    if (!isSame) engine.open.clear(); // the former lease has expired
    engine.openedAt = openedAt;
    for (const id of opened) {
      this.known(id).openedAt = openedAt;
      engine.open.add(id);
    }
    for (const { id, lost } of closed) {
      engine.open.delete(id);
      if (isSame && !lost) this.known(id).isClosed = true;
    }
  }

  /** A request that finds another one in progress is repeated. */
  private async send(method: string, { id }: Engine, body?: object): Promise<Response> {
    const request = { fn: 'documents', method, resource: '/v1/engines/{id}', path: { id } } as const;
    const response = await this.client.send({ ...request, ...(body && { body }) }, false);
    return response?.status === 429 ? null : response;
  }

  private known(id: string): EngineConnection {
    return this.promised.engineConnections.get(id) ?? {};
  }

  private start(): Engine {
    return { id: `engine-${this.names++}`, openedAt: undefined, open: new Set(), running: Promise.resolve() };
  }

  /** A process that starts again has another id. */
  private replace(engine: Engine): void {
    const { id, openedAt, open } = this.start();
    Object.assign(engine, { id, openedAt, open });
  }
}
