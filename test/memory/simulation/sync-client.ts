import type { Client } from './client.ts';
import { type Body, type Cycle, checkCompleted, checkResponse, isOfOneTable, isResync, type Page } from './cycle.ts';
import type { Promised } from './invariants.ts';
import type { Model, Write } from './model.ts';
import { type Replica, tokenFor } from './replica.ts';
import type { Response, Token } from './requests.ts';
import { DAY_MS, PAUSES_MS, type Wire } from './wire.ts';

/**
 * The age up to which a client starts to repeat a cycle, which can take some days. The service rejects its pushes after a day, but knows
 * its name for only 30 days (lib/documents/cycle-store.ts).
 */
const REPEATED_MS = 20 * DAY_MS;

type Outcome = 'completed' | 'abandoned' | 'resync';

/** How a client runs its cycles. A calm one has no accident and pushes nothing. */
export interface Manner {
  isCalm: boolean;
  limit: number;
}

/** The client library of replicas, which follows the rules for customers. */
export class SyncClient {
  private readonly past: Cycle[] = [];
  private readonly client: Client;
  private readonly wire: Wire;
  private readonly model: Model;
  private readonly promised: Promised;
  private count = 0;

  constructor(client: Client, wire: Wire, model: Model, promised: Promised) {
    this.client = client;
    this.wire = wire;
    this.model = model;
    this.promised = promised;
  }

  /** Runs a cycle. After a restore, synchronizes again without a checkpoint, and replaces all documents. */
  async synchronize(replica: Replica, manner: Manner): Promise<boolean> {
    for (;;) {
      const outcome = await this.cycle(this.begin(replica), manner);
      if (outcome !== 'resync') return outcome === 'completed';
      replica.checkpoint = undefined;
      await this.client.pass(10_000);
    }
  }

  private begin(replica: Replica): Cycle {
    const { world, service } = this.client;
    const cycle: Cycle = {
      replica,
      name: `cycle-${this.count++}`,
      isNamed: world.chance(0.9),
      begunAt: world.now,
      table: service.tables.current.number,
      seen: this.model.revisionsOf(replica.patterns),
      bodies: [],
      tables: new Set(),
    };
    this.past.push(cycle);
    if (cycle.isNamed) this.promised.cycles.set(cycle.name, undefined);
    return cycle;
  }

  private async cycle(cycle: Cycle, manner: Manner): Promise<Outcome> {
    const { world } = this.client;
    const { replica, bodies } = cycle;
    const isReplaced = replica.hasCheckpoints && replica.checkpoint === undefined;
    const copy: Replica['copy'] = isReplaced ? new Map() : replica.copy;
    const members = membersOf(cycle, copy, manner.limit);
    for (let cursor: string | null = null; ; ) {
      const queued = manner.isCalm ? [] : replica.queue.splice(0, world.pick([1, 2, 25]));
      const page: number =
        bodies.push({ ...members, push: this.withBadEntry(replica, queued), ...(cursor && { cursor }) }) - 1;
      const response: Response = await (manner.isCalm ? this.send(cycle, page) : this.sendTwice(cycle, page));
      if (response && isResync(response)) replica.queue.unshift(...queued);
      if (response?.status !== 200) return response && isResync(response) ? 'resync' : 'abandoned';
      const { changes, checkpoint, cursor: next }: Page = response.body;
      for (const { document_key, revision, fields } of changes) copy.set(document_key, { revision, fields });
      cursor = next;
      if (cursor === null) {
        replica.copy = copy;
        replica.checkpoint = checkpoint ?? undefined;
        checkCompleted(this.model, cycle, this.client.service.tables.current.number);
        return 'completed';
      }
      if (!manner.isCalm && (await this.isInterrupted(cycle))) return 'abandoned';
    }
  }

  /** Sends a page. Repeats it after a failed push, and sometimes for another reason. */
  private async sendTwice(cycle: Cycle, page: number): Promise<Response> {
    const { world } = this.client;
    const response = await this.send(cycle, page);
    if (response?.status !== 200 || !isRepeatable(cycle, page)) return response;
    const isFailed = (response.body as Page).results.some(({ code }) => code === 'unavailable');
    if (!isFailed && !world.chance(0.15)) return response;
    await this.wire.pass(isFailed ? 1000 : world.pick(PAUSES_MS.slice(0, 3)));
    return this.send(cycle, page);
  }

  /** Sends a page of a cycle until a response arrives. */
  private async send(cycle: Cycle, page: number, body = cycle.bodies[page] as Body): Promise<Response> {
    const { replica, name, isNamed } = cycle;
    const id = `page ${page} of ${name}`;
    this.model.send(id, body.push as Write[], replica.id);
    const request = this.request(body, replica.token);
    const response = await this.wire.untilKnown(request, isRepeatable(cycle, page), (each) => {
      if (each.status !== 200) return;
      const { results, cursor }: Page = each.body;
      this.model.receive(id, results, each.table);
      if (cursor === null && isNamed) this.promised.cycles.set(name, each.table);
    });
    if (response === null) return null;
    checkResponse(this.model, cycle, page, response, this.client.world.now);
    if (response.status === 200) cycle.tables.add(response.table);
    return response;
  }

  /** A device sleeps, its token expires, or a person closes the app. Returns whether the cycle ends. */
  private async isInterrupted(cycle: Cycle): Promise<boolean> {
    const { world } = this.client;
    const { replica, name } = cycle;
    if (world.chance(0.2)) await this.wire.pass(world.pick(PAUSES_MS));
    if (world.chance(0.15)) await this.tryWithOther(cycle);
    if (replica.token && world.chance(0.3)) replica.token = tokenFor(`tok_${name}_${world.steps}`, replica.token.user);
    return world.chance(0.05);
  }

  /** The client of another user knows a request of the cycle. */
  private async tryWithOther(cycle: Cycle): Promise<void> {
    const { world, service } = this.client;
    const { name, bodies } = cycle;
    const page = Math.floor(world.choosing() * bodies.length);
    if (!isRepeatable(cycle, page) || world.now > cycle.begunAt + REPEATED_MS) return;
    const token = tokenFor(`tok_${name}_other`, world.pick([undefined, 'other']));
    const response = await service.request(this.request({ ...(bodies[page] as Body), push: [] }, token));
    if (response === null || response.status >= 500 || !isOfOneTable(cycle, response.table)) return;
    const isRejected = response.status === 400 || response.status === 409;
    this.model.expect(isRejected, 'A sync cycle belongs to its owner', `page ${page} of ${name}: ${response.status}`);
  }

  /** Repeats one page of an earlier cycle, or all of them. The client has the changes already, so it ignores them. */
  async repeat(): Promise<void> {
    const { world } = this.client;
    const recent = this.past.filter(({ begunAt }) => world.now < begunAt + REPEATED_MS);
    const cycle = world.pick(recent);
    if (!cycle) return;
    const { bodies, isNamed } = cycle;
    const single = Math.floor(world.choosing() * bodies.length);
    if (world.chance(0.5) && isRepeatable(cycle, single)) await this.send(cycle, single);
    else if (isNamed) {
      let cursor: string | null | undefined;
      for (const [page, body] of bodies.entries()) {
        const response: Response = await this.send(cycle, page, { ...body, ...(cursor && { cursor }) });
        if (response?.status !== 200) return;
        ({ cursor } = response.body as Page);
        if (cursor === null) return;
        if (world.chance(0.3)) await this.wire.pass(world.pick(PAUSES_MS.slice(0, 4)));
      }
    }
  }

  private withBadEntry({ badEntry }: Replica, queued: readonly Write[]): readonly unknown[] {
    if (badEntry === undefined || queued.length === 0) return queued;
    const i = Math.floor(this.client.world.choosing() * (queued.length + 1));
    return [...queued.slice(0, i), badEntry, ...queued.slice(i)];
  }

  private request(body: Body, token: Token | undefined) {
    return { fn: 'documents', method: 'POST', resource: '/v1/sync', body, token } as const;
  }
}

/** A request without the name of its cycle is not repeated, because the service would begin another cycle. */
const isRepeatable = ({ isNamed }: Cycle, page: number): boolean => isNamed || page > 0;

/** The members of every page of a cycle. */
function membersOf({ replica, name, isNamed }: Cycle, copy: Replica['copy'], limit: number) {
  const { id: node_id, patterns, hasCheckpoints, checkpoint } = replica;
  const known = Object.fromEntries([...copy].map(([key, { revision }]) => [key, revision]));
  return {
    node_id,
    limit,
    ...(isNamed && { sync_id: name }),
    ...(patterns.length === 1 ? { pattern: patterns[0] } : { patterns }),
    ...(hasCheckpoints ? checkpoint !== undefined && { since: checkpoint } : { known }),
  };
}
