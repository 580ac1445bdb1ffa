import * as v from 'valibot';
import { ROLES, type Role } from '../credentials.ts';
import type { Environment } from '../space.ts';
import type { KeyRecord } from './key.ts';
import { ALGORITHM, COMMON_CLAIMS, claimedParent, signClaims, verifyClaims } from './signed-claims.ts';
import { sessionSigningKey, sessionVerifyingKey } from './signing-key.ts';

const TYPE = 'svc-session+jwt';

/** What a dashboard link gives to a person. */
export interface DashboardSession {
  sessionId: string;
  environment: Environment;
  role: Role;
  user?: string | undefined;
}

const Claims = v.strictObject({ ...COMMON_CLAIMS, role: v.picklist(ROLES) });

type Parent = Pick<KeyRecord, 'id' | 'projectId' | 'type' | 'tokenSecret'>;

/** Differs from the audience of scoped tokens, so a verifier that ignores `typ` rejects a session too. */
const audienceOf = ({ projectId }: Parent): string => `${projectId}/dashboard`;

/** Signs a session that is valid from the second of `nowMs`. */
export function signSession(
  { sessionId: id, environment, role, user }: DashboardSession,
  parent: Parent,
  lifetimeSeconds: number,
  nowMs: number,
): Promise<string> {
  const signed = { typ: TYPE, keyId: parent.id, audience: audienceOf(parent), id, environment, user };
  return signClaims(signed, { role }, lifetimeSeconds, nowMs, sessionSigningKey(parent.tokenSecret));
}

/** The parent key that a session claims, or `null` for any other text. */
export const parentOfSession = (session: string): string | null => claimedParent(session, TYPE, [ALGORITHM]);

/** Verifies a session. Returns its content, `expired` if it is genuine, or `null`. */
export async function verifySession(
  session: string,
  parent: Parent,
  nowMs: number,
): Promise<DashboardSession | 'expired' | null> {
  const keyFor = () => sessionVerifyingKey(parent.tokenSecret);
  const expected = { typ: TYPE, algorithms: [ALGORITHM], audience: audienceOf(parent), keyFor };
  const claims = await verifyClaims(session, expected, Claims, parent, nowMs);
  if (claims === null || claims === 'expired') return claims;
  const { jti: sessionId, env: environment, role, user } = claims;
  return { sessionId, environment, role, user };
}
