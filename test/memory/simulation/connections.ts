import type { Client } from './client.ts';
import type { Promised } from './invariants.ts';

/** Nodes that connect and disappear. */
export class Connections {
  private readonly client: Client;
  private readonly promised: Promised;

  constructor(client: Client, promised: Promised) {
    this.client = client;
    this.promised = promised;
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
}
