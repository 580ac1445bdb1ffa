import type { Client } from './client.ts';
import type { Promised } from './invariants.ts';

type Fields = Record<string, unknown>;

/** A replica with its local state. */
export interface Node {
  id: string;
  /** The last known state of each document. `null` for a deleted document. */
  copy: Map<string, { revision: number; fields: Fields | null }>;
  isSyncing: boolean;
}

interface SyncPage {
  changes: { document_key: string; revision: number; fields: Fields | null }[];
  cursor: string | null;
}

const DOCUMENTS = ['one', 'two'];

/** Replicas that write, synchronize, connect and disappear. */
export class Nodes {
  readonly all: readonly Node[] = ['n1', 'n2'].map((id) => ({ id, copy: new Map(), isSyncing: false }));
  private readonly client: Client;
  private readonly promised: Promised;
  private cycles = 0;

  constructor(client: Client, promised: Promised) {
    this.client = client;
    this.promised = promised;
  }

  async write(): Promise<void> {
    const { world } = this.client;
    const path = { key: world.pick(DOCUMENTS) };
    const base_revision = Math.floor(world.choosing() * 3);
    const { fields, on_conflict } = this.change();
    const request = world.pick([
      { method: 'PUT', body: { fields } },
      { method: 'PATCH', body: { fields } },
      { method: 'PATCH', body: { fields, base_revision, on_conflict } },
      { method: 'DELETE' },
    ]);
    const resource = '/v1/documents/{key}';
    await this.client.several(() => this.client.send({ fn: 'documents', resource, path, ...request }, false));
  }

  /** Runs one cycle, which pushes the changes of the node and pulls all differences. */
  async sync(
    node = this.client.world.pick(this.all),
    pushes = this.client.world.pick([0, 1, 2]),
    limit = 1,
  ): Promise<void> {
    if (node.isSyncing) return;
    node.isSyncing = true;
    const push = DOCUMENTS.slice(0, pushes).map((document_key) => {
      const base_revision = node.copy.get(document_key)?.revision ?? 0;
      const isDeletion = this.client.world.chance(0.2);
      const change = isDeletion ? { op: 'delete' } : { op: this.client.world.pick(['put', 'patch']), ...this.change() };
      return { document_key, base_revision, ...change };
    });
    const sync_id = `cycle-${this.cycles++}`;
    this.promised.cycles.set(sync_id, 'begun');
    const known = Object.fromEntries([...node.copy].map(([key, { revision }]) => [key, revision]));
    const cycle = { node_id: node.id, sync_id, pattern: '*', known, limit };
    let page = await this.page(node, { ...cycle, push });
    while (page?.cursor) page = await this.page(node, { ...cycle, push: [], cursor: page.cursor });
    if (page) this.promised.cycles.set(sync_id, 'completed');
    node.isSyncing = false;
  }

  async connect(): Promise<void> {
    const { world } = this.client;
    const lease_seconds = world.pick([10, 60, 900]);
    const path = { id: world.pick(['c1', 'c2']) };
    const body = { node_id: 'n1', document_key: path.id, lease_seconds };
    const request = { fn: 'documents', method: 'PUT', resource: '/v1/connections/{id}', path, body } as const;
    const renew = () => this.client.several(() => this.client.send(request, false));
    // Some clients renew repeatedly at the last moment.
    for (let renewals = world.pick([0, 0, 2]); renewals > 0; renewals--) {
      const endsAt = world.now + lease_seconds * 1000;
      await renew();
      await this.client.pass(endsAt - world.now + world.pick([10, 30, 50, 200]));
    }
    await renew();
  }

  async disconnect(): Promise<void> {
    const path = { id: this.client.world.pick(['c1', 'c2']) };
    this.promised.goodbyes.push([path.id, this.client.world.now]);
    await this.client.send({ fn: 'documents', method: 'DELETE', resource: '/v1/connections/{id}', path }, false);
  }

  private async page(node: Node, body: object): Promise<SyncPage | null> {
    const request = { fn: 'documents', method: 'POST', resource: '/v1/sync', body } as const;
    const response = await this.client.untilKnown(() => this.client.send(request, false));
    if (response?.status !== 200) return null;
    const page = response.body as SyncPage;
    for (const change of page.changes) this.take(node, change);
    return page;
  }

  private change() {
    const { world } = this.client;
    const fields = { [world.pick(['a', 'b', 'c'])]: world.pick([1, 2, 3, null]) };
    return { fields, on_conflict: world.pick(['last_write_wins', 'keep_server', 'reject']) };
  }

  private take({ copy, id }: Node, { document_key, revision, fields }: SyncPage['changes'][number]): void {
    for (const other of this.all) {
      const theirs = other.copy.get(document_key);
      const isSame = theirs?.revision !== revision || JSON.stringify(theirs.fields) === JSON.stringify(fields);
      if (!isSame) this.promised.broken.push(['A revision is the same for everybody', `${document_key} to ${id}`]);
    }
    copy.set(document_key, { revision, fields });
  }
}
