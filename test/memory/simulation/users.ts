import { sampleData } from '../../../lib/events/data.ts';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
import { Client } from './client.ts';
import { Connections } from './connections.ts';
import { BEHAVIOURS } from './endpoints.ts';
import { Engines } from './engines.ts';
import type { Promised } from './invariants.ts';
import { KeyHolders } from './key-holders.ts';
import type { Model } from './model.ts';
import { Replicas } from './replicas.ts';
import type { SimulatedService } from './service.ts';
import { PAUSES_MS } from './wire.ts';
import { SKEW_MS, type World } from './world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** 1 in this many schedules has webhooks with a rate limit. */
const LIMITED_EVERY = 11;
const LIMITS = [1, 2, null] as const;
/** 1 in this many schedules has webhooks with a rate limit whose queues fill up. */
const FULL_EVERY = 19;
/** 1 in this many schedules has webhooks for some documents. Users publish events of document `d`. */
const FILTERED_EVERY = 13;
/** 1 in this many schedules has so many webhooks that events are delivered in parts. Each action then causes many steps. */
const MANY_EVERY = 31;
const MANY = 12;
const FEW_ACTIONS = 3;
/** 1 in this many schedules has a budget of a few deliveries. */
const BUDGETED_EVERY = 7;
const DELIVERIES_PER_SECOND = 0.005;
/** 1 in this many schedules has a throttled partition. */
const HOT_EVERY = 13;
const HOT_MS = [MINUTE_MS, 10 * MINUTE_MS] as const;
/** 1 in this many schedules is only about replicas, which are offline for months and meet restores. */
const REPLICAS_EVERY = 3;
/** 1 in this many schedules about replicas has more documents than the replicas read. */
const WIDE_EVERY = 4;
/** In 1 in this many schedules, webhooks miss more events, recoveries are stopped, and the project is suspended. */
const RECOVERING_EVERY = 7;
const SUSPENDED_MS = [1000, MINUTE_MS, 3 * HOUR_MS] as const;
const RECOVERIES = [{}, { enable: true }, { enable: true, per_second: 1 }, { since: '2026-01-01T00:00:00Z' }];
const PATTERNS = [[], ['d'], ['other'], ['*']] as const;
const USUAL_PAUSES_MS = [0, 0, 100, 2000, MINUTE_MS, 10 * MINUTE_MS, 3 * HOUR_MS, 13 * HOUR_MS] as const;
/** Most actions of replicas overlap. */
const REPLICA_PAUSES_MS = [0, 0, 0, 0, 20, 20, 100, 100, 100, 500, 2000, 10_000, ...PAUSES_MS] as const;
/** The actions of which every schedule has some. */
const BASIC_ACTIONS: readonly string[] = ['publish', 'synchronize'];
/** Most endpoints work. */
const MIXED = [...BEHAVIOURS, 'responds', 'responds'] as const;

/** An action of a user: its name, and its weight in the random choice. The default is 1. */
type Action = readonly [name: string, act: () => Promise<unknown>, weight?: number];

export const isAboutReplicas = (seed: number): boolean => seed % REPLICAS_EVERY === 1;
export const isWide = (seed: number): boolean => isAboutReplicas(seed) && seed % WIDE_EVERY === 2;

/** The customers of a service, who can perform any action at any time. */
export class Users {
  readonly promised: Promised = {
    accepted: new Set(),
    once: new Set(),
    atMostOnce: new Set(),
    cycles: new Map(),
    goodbyes: [],
    engineConnections: new Map(),
    recovered: [],
    stops: [],
    broken: [],
  };
  private readonly webhookIds: string[] = [];
  private readonly world: World;
  private readonly service: SimulatedService;
  private readonly client: Client;
  private readonly keys: KeyHolders;
  private readonly isLimited: boolean;
  private readonly isFull: boolean;
  private readonly isFiltered: boolean;
  private readonly isHot: boolean;
  private readonly hasManyWebhooks: boolean;
  private readonly connections: Connections;
  private readonly engines: Engines;
  private readonly isAboutReplicas: boolean;
  readonly replicas: Replicas;
  private readonly isRecovering: boolean;

  constructor(world: World, service: SimulatedService, model: Model, seed: number) {
    this.world = world;
    this.service = service;
    this.isFull = seed % FULL_EVERY === 7;
    this.isLimited = this.isFull || seed % LIMITED_EVERY === 8;
    this.isFiltered = seed % FILTERED_EVERY === 9;
    this.isHot = seed % HOT_EVERY === 3;
    this.hasManyWebhooks = seed % MANY_EVERY === 5;
    if (seed % BUDGETED_EVERY === 4) service.deliveriesPerSecond = DELIVERIES_PER_SECOND;
    this.isRecovering = seed % RECOVERING_EVERY === 5;
    this.client = new Client(world, service, seed);
    this.keys = new KeyHolders(this.client, this.promised);
    this.connections = new Connections(this.client, this.promised);
    this.engines = new Engines(this.client, this.promised);
    this.isAboutReplicas = isAboutReplicas(seed);
    this.replicas = new Replicas(this.client, model, this.promised, isWide(seed));
  }

  private readonly actions: readonly Action[] = [
    ['publish', () => this.publish(), 2],
    ['publish a batch', () => this.publishBatch()],
    ['create a webhook', () => this.createWebhook()],
    ['pause', () => this.change({ status: 'disabled' })],
    ['enable', () => this.change({ status: 'enabled' }), 2],
    ['delete', () => this.onWebhook('DELETE', '/v1/webhooks/{id}')],
    ['rotate the secret', () => this.onWebhook('POST', '/v1/webhooks/{id}/rotate-secret', {})],
    ['test', () => this.onWebhook('POST', '/v1/webhooks/{id}/test', {})],
    ['redeliver', () => this.redeliver(), 2],
    ['recover', () => this.recover(), 2],
    ['change a document', () => this.replicas.write()],
    ['synchronize', () => this.replicas.synchronize(), 2],
    ['connect', () => this.connections.connect(), 2],
    ['disconnect', () => this.connections.disconnect()],
    ['renew an engine', () => this.engines.renew(), 2],
    ['close an engine', () => this.engines.close()],
    ['create a key', () => this.keys.create()],
    ['rotate a key', () => this.keys.change('/v1/keys/{key}/rotate')],
    ['revoke a key', () => this.keys.change('/v1/keys/{key}/revoke'), 2],
    ['create a token', () => this.keys.createToken()],
    ['revoke a token', () => this.keys.revokeToken()],
    ['use a key', () => this.keys.use(), 2],
    ['change an endpoint', async () => this.changeEndpoint(), 2],
  ];

  private readonly replicaActions: readonly Action[] = [
    ['change a document', () => this.replicas.write(), 2],
    ['edit without a connection', async () => this.replicas.edit(), 2],
    ['synchronize', () => this.replicas.synchronize(), 4],
    ['synchronize all replicas', () => this.replicas.synchronizeAll(), 2],
    ['repeat a request', () => this.replicas.repeat(), 2],
    ['back up', async () => this.service.tables.backUp()],
    ['restore', async () => this.service.restore()],
  ];

  private readonly limitedActions: readonly Action[] = [
    ['publish two batches', () => Promise.all([this.publishBatch(), this.publishBatch()]), 2],
    ['change the limit', () => this.change({ max_per_second: this.world.pick(LIMITS) })],
  ];

  private readonly fullActions: readonly Action[] = [
    ['publish to a full queue', () => this.publishToFull(), 2],
    ['recover', () => this.recover()],
  ];

  private readonly recoveringActions: readonly Action[] = [
    ['miss events', () => this.missEvents(), 6],
    ['recover', () => this.recover(), 2],
    ['stop a recovery', () => this.stopRecovery(), 2],
    ['suspend the project', () => this.suspend()],
  ];

  private readonly hotActions: readonly Action[] = [
    ['overload a partition', async () => this.overload(), 2],
    ['publish a batch', () => this.publishBatch(), 2],
  ];

  /** Performs `count` actions with delays between them. Some actions do not wait for the previous one. */
  async act(count: number): Promise<void> {
    if (this.isAboutReplicas) return this.perform(count, this.replicaActions, REPLICA_PAUSES_MS);
    await this.createWebhook();
    if (this.world.chance(0.5)) await this.createWebhook();
    if (this.hasManyWebhooks) await Promise.all(Array.from({ length: MANY }, () => this.createWebhook()));
    await this.client.pass(2 * SKEW_MS); // later events are later by any clock
    const limited = [...(this.isLimited ? this.limitedActions : []), ...(this.isFull ? this.fullActions : [])];
    const special = [...(this.isHot ? this.hotActions : []), ...(this.isRecovering ? this.recoveringActions : [])];
    await this.perform(count, [...this.actions, ...limited, ...special], USUAL_PAUSES_MS);
  }

  private async perform(count: number, all: readonly Action[], pausesMs: readonly number[]): Promise<void> {
    // A few kinds of actions in one schedule interact more often than all kinds (Groce et al., "Swarm testing", 2012).
    const weighted = all.flatMap((action) => Array.from({ length: action[2] ?? 1 }, () => action));
    const actions = weighted.filter(([name]) => BASIC_ACTIONS.includes(name) || this.world.chance(0.6));
    for (let i = 0; i < (this.hasManyWebhooks ? Math.min(count, FEW_ACTIONS) : count); i++) {
      const [name, action] = this.world.pick(actions);
      this.world.tell(() => `— a user does this: ${name}`);
      const acted = action();
      if (this.world.chance(0.6)) await acted;
      await this.client.pass(this.world.pick(pausesMs));
      if (this.isAboutReplicas && this.world.chance(0.3)) this.service.expire();
    }
  }

  /** Synchronizes every replica once more, after all work has ended. */
  async settle(): Promise<void> {
    if (!this.service.hasDocuments && !this.isAboutReplicas) return;
    await this.client.pass(MINUTE_MS); // the old table of a restore is no longer used
    for (const replica of this.replicas.all) await this.replicas.settle(replica);
  }

  private eventOf(marker: string) {
    const type = this.world.pick(EVENT_TYPES);
    const data = { ...sampleData(type, this.world.now), marker };
    return { type, data: 'document_key' in data ? { ...data, document_key: 'd' } : data };
  }

  private async publish(): Promise<void> {
    const marker = this.client.marker();
    const isRepeated = this.world.chance(0.8);
    if (isRepeated) this.promised.atMostOnce.add(marker);
    const event = this.eventOf(marker);
    const response = await this.client.send(
      { fn: 'events', method: 'POST', resource: '/v1/events', body: event },
      isRepeated,
    );
    if (response?.status === 202) this.accept([response.body], [marker], isRepeated);
  }

  private async publishBatch(): Promise<void> {
    const markers = Array.from({ length: 1 + Math.floor(this.world.choosing() * 3) }, () => this.client.marker());
    for (const marker of markers) this.promised.atMostOnce.add(marker);
    const body = { events: markers.map((marker) => this.eventOf(marker)) };
    const response = await this.client.send({ fn: 'events', method: 'POST', resource: '/v1/events/batch', body });
    if (response?.status === 202) this.accept((response.body as { data: never[] }).data, markers, true);
  }

  private accept(events: readonly { id: string }[], markers: readonly string[], isRepeated: boolean): void {
    for (const { id } of events) this.promised.accepted.add(id);
    if (isRepeated) for (const marker of markers) this.promised.once.add(marker);
  }

  private async createWebhook(): Promise<void> {
    const description = this.client.marker();
    const url = `https://${description}.example.com/hook`;
    this.promised.atMostOnce.add(description);
    this.service.endpoints.set(url, this.world.pick(MIXED));
    const limit = this.isLimited && { max_per_second: this.world.pick(LIMITS) };
    const filter = this.isFiltered && { documents: this.world.pick(PATTERNS) };
    const body = { url, events: EVENT_TYPES, description, ...limit, ...filter };
    const response = await this.client.send({ fn: 'webhooks', method: 'POST', resource: '/v1/webhooks', body });
    if (response?.status !== 201) return;
    this.webhookIds.push((response.body as { id: string }).id);
    this.promised.once.add(description);
  }

  private async onWebhook(
    method: string,
    resource: string,
    body?: object,
    id = this.world.pick(this.webhookIds),
  ): Promise<void> {
    if (id === undefined) return;
    const isRepeated = method === 'POST';
    await this.client.send({ fn: 'webhooks', method, resource, path: { id }, ...(body && { body }) }, isRepeated);
  }

  private change(body: object): Promise<void> {
    return this.onWebhook('PATCH', '/v1/webhooks/{id}', body);
  }

  private async redeliver(): Promise<void> {
    const [id, event_id] = [this.world.pick(this.webhookIds), this.world.pick([...this.promised.accepted])];
    if (id === undefined || event_id === undefined) return;
    const resource = '/v1/webhooks/{id}/deliveries/{event_id}/redeliver';
    await this.client.send(
      { fn: 'webhooks', method: 'POST', resource, path: { id, event_id } },
      this.world.chance(0.8),
    );
  }

  /** Deliveries that ended without success before a recovery get a new run, unless a new outage has started or the webhook is disabled. */
  private async recover(
    id = this.world.pick(this.webhookIds),
    body: object = this.world.pick(RECOVERIES),
  ): Promise<void> {
    if (id === undefined) return;
    const outage = this.service.undeliveredSince(id);
    const lost = this.service.undelivered(id).filter(({ endedAt = 0 }) => 'since' in body || endedAt >= (outage ?? 0));
    const request = {
      fn: 'webhooks',
      method: 'POST',
      resource: '/v1/webhooks/{id}/recover',
      path: { id },
      body,
    } as const;
    const response = await this.client.send(request, this.world.chance(0.8));
    const isSame = 'since' in body || this.service.undeliveredSince(id) === outage;
    const step = this.world.steps;
    if (response?.status === 202 && isSame)
      this.promised.recovered.push(...lost.map((delivery) => ({ delivery, step })));
  }

  /** A webhook skips the events during a pause, and recovers them slowly. */
  private async missEvents(): Promise<void> {
    const id = this.world.pick(this.webhookIds);
    await this.onWebhook('PATCH', '/v1/webhooks/{id}', { status: 'disabled' }, id);
    await Promise.all([this.publishBatch(), this.publishBatch()]);
    await this.client.pass(10_000);
    await this.recover(id, { enable: true, per_second: 1 });
    await this.client.pass(this.world.pick([0, 11_000, 13_000]));
  }

  private async stopRecovery(): Promise<void> {
    const webhookId = this.world.pick(this.webhookIds);
    const stop = { webhookId, until: Number.POSITIVE_INFINITY };
    this.promised.stops.push(stop);
    await this.onWebhook('DELETE', '/v1/webhooks/{id}/recover', undefined, webhookId);
    stop.until = this.world.steps;
  }

  /** The operator suspends the project, and resumes it later. A repetition of the command continues. */
  private async suspend(): Promise<void> {
    const operate = (operation: string) =>
      this.client.untilKnown(() => this.service.operate({ operation, id: 'prj_1' }));
    await operate('suspend');
    await this.client.pass(this.world.pick(SUSPENDED_MS));
    await operate('resume');
  }

  private overload(): void {
    const [first] = this.webhookIds;
    if (first !== undefined) this.service.hotPartition.throttle(first, this.world.pick(HOT_MS));
  }

  private async publishToFull(): Promise<void> {
    for (const id of this.webhookIds) this.service.fillQueue(id);
    await this.publish();
  }

  private changeEndpoint(): void {
    const url = this.world.pick([...this.service.endpoints.keys()]);
    const behaviour = this.world.pick(MIXED);
    this.world.tell(() => `  ${url} ${behaviour} from now on`);
    this.service.endpoints.set(url, behaviour);
  }
}
