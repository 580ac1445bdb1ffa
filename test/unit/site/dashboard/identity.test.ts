import { describe, expect, it } from 'vitest';
import type { Route } from '../../../../functions/site/dashboard/state/api.ts';
import { canCall, identityOf, linkContentOf } from '../../../../functions/site/dashboard/state/identity.ts';
import { operations } from '../../../../lib/api/operations.ts';
import { isFor } from '../../../../lib/http/route.ts';
import { signSession } from '../../../../lib/keys/dashboard-session.ts';

const now = Date.UTC(2026, 0, 31, 12);
const parent = { id: 'key_01Fkq2Xb9TzA', type: 'admin', projectId: 'prj_1', tokenSecret: 'a'.repeat(43) } as const;
const sessionOf = (user?: string) =>
  signSession({ sessionId: 's', environment: 'sandbox', role: 'editor', user }, parent, 60, now);

describe('the session of a link', () => {
  it.each([
    ['Änn 😀', 'Änn 😀', 'the link of Änn 😀'],
    [undefined, '', 'a link with the role editor'],
  ])('says whom it signs in: %s', async (given, user, shown) => {
    const link = {
      role: 'editor',
      environment: 'sandbox',
      user,
      expiresAt: '2026-01-31T12:01:00.000Z',
      keyId: parent.id,
    };
    const identity = { caller: 'editor', environments: ['sandbox'], keyId: parent.id, shown, link };
    expect(identityOf(await sessionOf(given))).toEqual(identity);
  });

  it('is none without one of its parts, or with claims of another kind', async () => {
    const [head, claims = '', signature] = (await sessionOf('Ann')).split('.');
    const content = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const changed = (change: object) =>
      `${head}.${Buffer.from(JSON.stringify({ ...content, ...change })).toString('base64url')}.${signature}`;
    expect(linkContentOf(changed({}))).toBeDefined();
    const cut = [
      '',
      head ?? '',
      `${head}.${claims}`,
      `${head}.${claims}.`,
      `${head}.${claims.slice(0, -9)}.${signature}`,
    ];
    const others = [{ role: 'admin' }, { role: undefined }, { env: 'x' }, { exp: 1e300 }, { sub: 7 }, { user: 7 }];
    for (const text of [...cut, ...others.map(changed)]) expect(linkContentOf(text), text).toBeUndefined();
  });
});

describe('an operation', () => {
  it('is possible for the callers whom the API admits', () => {
    for (const caller of ['admin', 'live', 'test', 'viewer', 'editor'] as const)
      for (const { method, path, callers } of Object.values(operations))
        expect(canCall({ caller }, `${method} ${path}` as Route), `${caller} ${method} ${path}`).toBe(
          isFor({ callers }, caller),
        );
  });

  it('is impossible for a text that is no complete key', () => {
    expect(canCall(identityOf('svc_live_'), 'GET /v1/webhooks')).toBe(false);
  });
});
