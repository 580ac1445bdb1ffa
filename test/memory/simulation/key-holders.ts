import type { Client } from './client.ts';
import type { Promised } from './invariants.ts';
import type { Response } from './requests.ts';
import { SKEW_MS } from './world.ts';

/** How long the old key works after a rotation. */
const GRACE_MS = 24 * 60 * 60 * 1000;

/** The knowledge of a client about a key. */
interface KnownKey {
  key: string;
  /** The time of the response that confirmed the revocation. */
  revokedAt?: number;
  /** The times of the request and the response of the rotation. */
  rotated?: [asked: number, told: number];
  /** Whether a request has an unknown outcome. */
  isUncertain?: boolean;
}

interface KnownToken {
  token: string;
  tokenId: string;
  keyId: string;
  expiresAt: number;
  /** The time of the response that confirmed the revocation. */
  revokedAt?: number;
  /** Whether a request for it has an unknown outcome. */
  isUncertain?: boolean;
}

/** Customers who create, rotate, revoke and use keys, and tokens of them. */
export class KeyHolders {
  private readonly client: Client;
  private readonly promised: Promised;
  private readonly keys = new Map<string, KnownKey>();
  private readonly tokens: KnownToken[] = [];

  constructor(client: Client, promised: Promised) {
    this.client = client;
    this.promised = promised;
    const { adminKey, adminKeyId } = client.service;
    this.keys.set(adminKeyId, { key: adminKey });
  }

  async create(): Promise<void> {
    const type = this.client.world.pick(['admin', 'admin', 'live']);
    this.know(await this.client.send({ fn: 'keys', method: 'POST', resource: '/v1/keys', body: { type } }));
  }

  change(resource: string): Promise<void> {
    const { world, service } = this.client;
    const key = world.pick([service.adminKeyId, ...this.keys.keys()]);
    return this.client.several(async () => {
      // Two admins can revoke each other.
      const id = world.chance(0.5) ? world.pick([...this.keys.keys()]) : key;
      const known = this.keys.get(id) as KnownKey;
      const isRotation = resource.endsWith('rotate');
      const asked = world.now;
      const before = known.isUncertain;
      known.isUncertain = true;
      const response = await this.client.send({ fn: 'keys', method: 'POST', resource, path: { key: id } }, isRotation);
      if (isRotation && response?.status === 201) known.rotated = [asked, world.now];
      if (!isRotation && response?.status === 200) known.revokedAt = world.now;
      if (response !== null && before === undefined) delete known.isUncertain;
      this.know(response);
    });
  }

  async createToken(): Promise<void> {
    const { world } = this.client;
    const keyId = world.pick([...this.keys.keys()]);
    const body = { documents: ['*'], permissions: ['read'], ttl: world.pick([60, 3600, 86_400]) };
    const request = { fn: 'tokens', method: 'POST', resource: '/v1/tokens', body, keyId } as const;
    const response = await this.client.send(request, false);
    if (response?.status !== 201) return;
    const { token, token_id, expires_at } = response.body as { token: string; token_id: string; expires_at: string };
    this.tokens.push({ token, tokenId: token_id, keyId, expiresAt: Date.parse(expires_at) });
  }

  revokeToken(): Promise<void> {
    const { world } = this.client;
    return this.client.several(async () => {
      const token = world.pick(this.tokens);
      if (!token) return;
      token.isUncertain = true;
      const path = { token_id: token.tokenId };
      const request = { fn: 'tokens', method: 'POST', resource: '/v1/tokens/{token_id}/revoke', path } as const;
      const response = await this.client.send(request, false);
      if (response?.status === 204) token.revokedAt = world.now;
    });
  }

  /**
   * Checks that a revoked credential is rejected, and that a rotated key works for exactly 24 hours. This applies to keys and
   * their tokens.
   */
  async use(): Promise<void> {
    const { world, service } = this.client;
    const token = world.chance(0.5) ? world.pick(this.tokens) : undefined;
    const id = token?.keyId ?? world.pick([...this.keys.keys()]);
    const known = this.keys.get(id);
    if (!known?.key) return;
    const [asked, knownThen, tokenThen] = [world.now, { ...known }, { ...token }];
    const works = await service.authorize(token?.token ?? known.key);
    if (works === null) return;
    const { revokedAt, rotated = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] } = knownThen;
    const expiresAt = token?.expiresAt ?? Number.POSITIVE_INFINITY;
    const isRevoked = revokedAt !== undefined || tokenThen.revokedAt !== undefined;
    const hasEnded = isRevoked || asked > rotated[1] + GRACE_MS + SKEW_MS || asked > expiresAt + SKEW_MS;
    if (hasEnded && works) this.promised.broken.push(['A revoked credential is rejected', id]);
    const isUntouched =
      !token?.isUncertain && !knownThen.isUncertain && !known.isUncertain && known.revokedAt === undefined;
    const end = Math.min(expiresAt, known.rotated === undefined ? expiresAt : known.rotated[0] + GRACE_MS);
    if (isUntouched && world.now < end - SKEW_MS && !works)
      this.promised.broken.push(['A key works until it expires', id]);
  }

  /** A replayed response does not contain the key. */
  private know(response: Response): void {
    const { id, key } = (response?.status === 201 ? response.body : {}) as { id?: string; key?: string };
    if (id !== undefined) this.keys.set(id, { key: key ?? '' });
  }
}
