import { EVENT_TYPES, type EventType } from '../../lib/events/types.ts';
import type { Promised } from './invariants.ts';
import type { Behaviour, Request, Response, SimulatedService } from './service.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const BEHAVIOURS: readonly Behaviour[] = ['responds', 'fails', 'hangs', 'resets', 'dawdles'];

/** A client sends a request again that it has no response to, under the same key, until it has one; at most so often. */
const MAX_TRIES = 8;

/** The customers of a service: they may do anything at any time. */
export class Users {
  readonly promised: Promised = { accepted: new Map(), once: new Set(), atMostOnce: new Set(), broken: [] };
  /** How often each action was done. */
  readonly done = new Map<string, number>();
  private readonly webhookIds: string[] = [];
  private readonly eventIds: string[] = [];
  /** What a client knows of its keys, by id. */
  private readonly keys = new Map<string, KnownKey>();
  private readonly world: World;
  private readonly service: SimulatedService;
  private readonly seed: number;
  private markers = 0;

  constructor(world: World, service: SimulatedService, seed: number) {
    this.world = world;
    this.service = service;
    this.seed = seed;
  }

  private readonly actions: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['publish', () => this.publish()],
    ['publish', () => this.publish()],
    ['publish', () => this.publish()],
    ['publish a batch', () => this.publishBatch()],
    ['create a webhook', () => this.createWebhook()],
    ['pause', () => this.change({ status: 'disabled' })],
    ['enable', () => this.change({ status: 'enabled' })],
    ['enable', () => this.change({ status: 'enabled' })],
    ['delete', () => this.onWebhook('DELETE', '/v1/webhooks/{id}')],
    ['rotate the secret', () => this.onWebhook('POST', '/v1/webhooks/{id}/rotate-secret', {})],
    ['test', () => this.onWebhook('POST', '/v1/webhooks/{id}/test', {})],
    ['redeliver', () => this.redeliver()],
    ['redeliver', () => this.redeliver()],
    ['recover', () => this.recover()],
    ['recover', () => this.recover()],
    ['change a document', () => this.write()],
    ['change a document', () => this.write()],
    ['create a key', () => this.createKey()],
    ['rotate a key', () => this.onKey('/v1/keys/{key}/rotate')],
    ['revoke a key', () => this.onKey('/v1/keys/{key}/revoke')],
    ['use a key', () => this.useKey()],
    ['use a key', () => this.useKey()],
    ['change an endpoint', async () => this.changeEndpoint()],
    ['change an endpoint', async () => this.changeEndpoint()],
  ];

  /** So many actions, each some time after the one before; some do not wait for it. */
  async act(count: number): Promise<void> {
    this.keys.set(this.service.adminKeyId, { key: this.service.adminKey });
    await this.createWebhook();
    if (this.world.chance(0.5)) await this.createWebhook();
    for (let i = 0; i < count; i++) {
      const [name, action] = this.world.pick(this.actions);
      const state = `${name} × ${this.service.isIdle ? 'at rest' : 'in flight'}, ${this.service.isAnyDisabled ? 'one disabled' : 'all enabled'}`;
      this.done.set(state, (this.done.get(state) ?? 0) + 1);
      this.world.tell(() => `— a user does this: ${name}`);
      const acted = action();
      if (this.world.chance(0.6)) await acted;
      await this.pass(this.world.pick([0, 0, 100, 2000, MINUTE_MS, 10 * MINUTE_MS, 3 * HOUR_MS, 13 * HOUR_MS]));
    }
  }

  private pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.world.after(ms, resolve));
  }

  /** With a key, a request is sent again until there is a response; without one, once. */
  private async send(request: Request, isRepeated = true): Promise<Response> {
    const idempotencyKey = isRepeated ? `key ${this.markers++}` : undefined;
    for (let tries = 1; ; tries++) {
      const response = await this.service.request({ ...request, idempotencyKey });
      const isUnknown = response === null || response.status >= 500 || isInProgress(response);
      this.world.tell(
        () => `  a client gets ${response?.status ?? 'no response'} to ${request.method} ${request.resource}`,
      );
      if (!isUnknown || !isRepeated || tries === MAX_TRIES) return isUnknown ? null : response;
      await this.pass(this.world.pick([1000, 31_000]));
    }
  }

  private marker(): string {
    return `marker-${this.seed}-${this.markers++}`;
  }

  private eventOf(marker: string, type: EventType = this.world.pick(EVENT_TYPES)) {
    const data = {
      'document.created': { document_key: 'd', revision: 1, fields: {}, origin: 'n' },
      'document.changed': {
        document_key: 'd',
        revision: 2,
        changes: [{ field: 'f', old_value: 1, new_value: 2, origin: 'n' }],
      },
      'document.deleted': { document_key: 'd', revision: 3, origin: 'n' },
      'sync.conflict': {
        document_key: 'd',
        revision: 2,
        base_revision: 1,
        sync_id: null,
        resolution: 'last_write_wins',
        conflicts: [
          { field: 'f', winner: { value: 1, origin: 'a', revision: 2 }, loser: { value: 2, origin: 'b', revision: 1 } },
        ],
      },
      'sync.completed': {
        sync_id: 's',
        node_id: 'n',
        pattern: '*',
        pushed: 0,
        pulled: 0,
        conflicts: 0,
        started_at: '2026-01-31T12:00:00.000Z',
        completed_at: '2026-01-31T12:00:00.000Z',
      },
      'connection.lost': {
        connection_id: 'c',
        node_id: 'n',
        connected_at: '2026-01-31T12:00:00.000Z',
        last_seen_at: '2026-01-31T12:00:00.000Z',
        lost_at: '2026-01-31T12:00:00.000Z',
      },
    }[type];
    return { type, data: { ...data, marker } };
  }

  private async publish(): Promise<void> {
    const marker = this.marker();
    const isRepeated = this.world.chance(0.8);
    if (isRepeated) this.promised.atMostOnce.add(marker);
    const event = this.eventOf(marker);
    const response = await this.send({ fn: 'events', method: 'POST', resource: '/v1/events', body: event }, isRepeated);
    if (response?.status === 202) this.accept([response.body], [marker], isRepeated);
  }

  private async publishBatch(): Promise<void> {
    const markers = Array.from({ length: 1 + Math.floor(this.world.choosing() * 3) }, () => this.marker());
    for (const marker of markers) this.promised.atMostOnce.add(marker);
    const body = { events: markers.map((marker) => this.eventOf(marker)) };
    const response = await this.send({ fn: 'events', method: 'POST', resource: '/v1/events/batch', body });
    if (response?.status === 202) this.accept((response.body as { data: never[] }).data, markers, true);
  }

  private accept(
    events: readonly { id: string; type: string }[],
    markers: readonly string[],
    isRepeated: boolean,
  ): void {
    for (const { id, type } of events) {
      this.promised.accepted.set(id, { type });
      this.eventIds.push(id);
    }
    if (isRepeated) for (const marker of markers) this.promised.once.add(marker);
  }

  private async createWebhook(): Promise<void> {
    const description = this.marker();
    const url = `https://${description}.example.com/hook`;
    this.promised.atMostOnce.add(description);
    this.service.endpoints.set(url, this.world.pick(BEHAVIOURS));
    const body = { url, events: EVENT_TYPES, description };
    const response = await this.send({ fn: 'webhooks', method: 'POST', resource: '/v1/webhooks', body });
    if (response?.status !== 201) return;
    this.webhookIds.push((response.body as { id: string }).id);
    this.promised.once.add(description);
  }

  private async onWebhook(method: string, resource: string, body?: object): Promise<void> {
    const id = this.world.pick(this.webhookIds);
    if (id === undefined) return;
    const isRepeated = method === 'POST';
    await this.send({ fn: 'webhooks', method, resource, path: { id }, ...(body && { body }) }, isRepeated);
  }

  private change(body: object): Promise<void> {
    return this.onWebhook('PATCH', '/v1/webhooks/{id}', body);
  }

  private async redeliver(): Promise<void> {
    const [id, event_id] = [this.world.pick(this.webhookIds), this.world.pick(this.eventIds)];
    if (id === undefined || event_id === undefined) return;
    const resource = '/v1/webhooks/{id}/deliveries/{event_id}/redeliver';
    await this.send({ fn: 'webhooks', method: 'POST', resource, path: { id, event_id } }, this.world.chance(0.8));
  }

  private recover(): Promise<void> {
    return this.onWebhook('POST', '/v1/webhooks/{id}/recover', { since: '2026-01-01T00:00:00Z' });
  }

  private async write(): Promise<void> {
    const fields = { [this.world.pick(['a', 'b', 'c'])]: this.world.pick([1, 2, 3, null]) };
    const path = { key: this.world.pick(['one', 'two']) };
    const base_revision = Math.floor(this.world.choosing() * 3);
    const on_conflict = this.world.pick(['last_write_wins', 'keep_server', 'reject']);
    const request = this.world.pick<Pick<Request, 'method' | 'body'>>([
      { method: 'PUT', body: { fields } },
      { method: 'PATCH', body: { fields } },
      { method: 'PATCH', body: { fields, base_revision, on_conflict } },
      { method: 'DELETE' },
    ]);
    const send = () => this.send({ fn: 'documents', resource: '/v1/documents/{key}', path, ...request }, false);
    await this.several(send);
  }

  /** The same by several at once, now and then. */
  private async several(act: () => Promise<unknown>): Promise<void> {
    await Promise.all(Array.from({ length: this.world.pick([1, 1, 2]) }, act));
  }

  private async createKey(): Promise<void> {
    const type = this.world.pick(['admin', 'live']);
    this.know(await this.send({ fn: 'keys', method: 'POST', resource: '/v1/keys', body: { type } }));
  }

  /** A replayed response lacks the key itself. */
  private know(response: Response): void {
    const { id, key } = (response?.status === 201 ? response.body : {}) as { id?: string; key?: string };
    if (id !== undefined) this.keys.set(id, { key: key ?? '' });
  }

  private onKey(resource: string): Promise<void> {
    const key = this.world.pick([this.service.adminKeyId, ...this.keys.keys()]);
    return this.several(async () => {
      // Two admins may revoke each other.
      const id = this.world.chance(0.3) ? this.world.pick([...this.keys.keys()]) : key;
      const known = this.keys.get(id) as KnownKey;
      const isRotation = resource.endsWith('rotate');
      const asked = this.world.now;
      const before = known.isUncertain;
      known.isUncertain = true;
      const response = await this.send({ fn: 'keys', method: 'POST', resource, path: { key: id } }, isRotation);
      if (isRotation && response?.status === 201) known.rotated = [asked, this.world.now];
      if (!isRotation && response?.status === 200) known.revokedAt = this.world.now;
      if (response !== null && before === undefined) delete known.isUncertain;
      this.know(response);
    });
  }

  /** Revoked means refused, and 24 hours mean 24 hours. */
  private async useKey(): Promise<void> {
    const id = this.world.pick([...this.keys.keys()]);
    const known = this.keys.get(id);
    if (!known?.key) return;
    const [asked, knownThen] = [this.world.now, { ...known }];
    const works = await this.service.authorize(known.key);
    if (works === null) return;
    const { revokedAt, rotated = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] } = knownThen;
    const hasEnded = revokedAt !== undefined || asked > rotated[1] + GRACE_MS + SKEW_MS;
    if (hasEnded && works) this.promised.broken.push(['Revoked means refused', id]);
    const isUntouched = !knownThen.isUncertain && !known.isUncertain && known.revokedAt === undefined;
    const isInTime = known.rotated === undefined || this.world.now < known.rotated[0] + GRACE_MS - SKEW_MS;
    if (isUntouched && isInTime && !works) this.promised.broken.push(['A key works until it ends', id]);
  }

  private changeEndpoint(): void {
    const url = this.world.pick([...this.service.endpoints.keys()]);
    const behaviour = this.world.pick(BEHAVIOURS);
    this.world.tell(() => `  ${url} ${behaviour} from now on`);
    this.service.endpoints.set(url, behaviour);
  }
}

/** What a client was told of a key. */
interface KnownKey {
  key: string;
  /** When it was told that the key is revoked. */
  revokedAt?: number;
  /** Between which times it was told that the key is rotated. */
  rotated?: [asked: number, told: number];
  /** It asked for that and may not know how it ended. */
  isUncertain?: boolean;
}

/** For how long a key works on after a rotation, and by how much two clocks can differ. */
const GRACE_MS = 24 * HOUR_MS;
const SKEW_MS = 5000;

const isInProgress = ({ status, body }: { status: number; body: { code?: string } }): boolean =>
  status === 409 && body?.code === 'idempotency_in_progress';
