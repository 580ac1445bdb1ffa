import type { Client } from './client.ts';
import type { Promised } from './invariants.ts';
import type { Fields, Model, Write } from './model.ts';
import { changeOf, createReplica, DOCUMENTS, edit, type Replica } from './replica.ts';
import type { Request, Response } from './requests.ts';
import { SyncClient } from './sync-client.ts';
import { Wire } from './wire.ts';

const HOUR_MS = 60 * 60 * 1000;
/** How long a client repeats a direct write under its key. The rest of the day is for the difference of clocks. */
const REPEATED_MS = 23 * HOUR_MS;

/** A direct write with an idempotency key. */
interface KeyedWrite {
  request: Request;
  at: number;
}

/** Replicas and direct writers. */
export class Replicas {
  readonly all: readonly Replica[];
  private readonly model: Model;
  private readonly client: Client;
  private readonly wire: Wire;
  private readonly sync: SyncClient;
  private readonly keyed: KeyedWrite[] = [];
  private writes = 0;

  /** With `isWide`, the walks of all cycles contain all documents. */
  constructor(client: Client, model: Model, promised: Promised, isWide: boolean) {
    this.client = client;
    this.model = model;
    this.wire = new Wire(client);
    this.sync = new SyncClient(client, this.wire, this.model, promised);
    this.all = ['n1', 'n2', 'n3'].map((id) => createReplica(client.world, id, isWide));
  }

  /** Changes documents on a replica, which pushes them later. */
  edit(): void {
    edit(this.client.world.pick(this.all), this.client.world, this.model);
  }

  async synchronize(replica = this.client.world.pick(this.all)): Promise<void> {
    if (replica.isSyncing) return;
    replica.isSyncing = true;
    const { world } = this.client;
    if (world.chance(0.5)) edit(replica, world, this.model);
    await this.sync.synchronize(replica, { isCalm: false, limit: world.pick([1, 1, 2, 100]) });
    replica.isSyncing = false;
  }

  /** Several devices get a connection at the same time. */
  synchronizeAll(): Promise<unknown> {
    return Promise.all([...this.all.map((replica) => this.synchronize(replica)), this.write()]);
  }

  /** Completes a cycle of a replica. */
  async settle(replica: Replica): Promise<void> {
    for (let tries = 0; tries < 5; tries++)
      if (await this.sync.synchronize(replica, { isCalm: true, limit: 100 })) return;
  }

  repeat(): Promise<unknown> {
    const { world } = this.client;
    const recent = this.keyed.filter(({ at }) => world.now < at + REPEATED_MS);
    const keyed = world.pick(recent);
    return keyed && world.chance(0.5) ? this.send(keyed.request) : this.sync.repeat();
  }

  /** Writes a document without a cycle. */
  async write(): Promise<void> {
    const { world } = this.client;
    const document_key = world.pick(DOCUMENTS);
    const replica = world.pick(this.all);
    const { op, fields, on_conflict } = changeOf(world, this.model);
    const base_revision = world.pick([undefined, replica.copy.get(document_key)?.revision ?? 0]);
    const hasBase = op === 'patch' && base_revision !== undefined;
    const request: Request = {
      fn: 'documents',
      method: op.toUpperCase(),
      resource: '/v1/documents/{key}',
      path: { key: document_key },
      nodeId: replica.id,
      ...(fields && { body: { fields, ...(hasBase && { base_revision, on_conflict }) } }),
      idempotencyKey: `write ${this.writes++}`,
    };
    const write: Write = { op, document_key, ...(fields && { fields }), ...(hasBase && { base_revision }) };
    this.model.send(request.idempotencyKey as string, [write], replica.id);
    this.keyed.push({ request, at: world.now });
    await this.client.several(() => this.send(request));
  }

  private send(request: Request): Promise<Response> {
    return this.wire.untilKnown(request, true, ({ status, body, table }) => {
      const document = body as { revision: number; fields: Fields } | undefined;
      if (status < 300 && document) this.model.receiveDirect(request.idempotencyKey as string, document, table);
    });
  }
}
