import { createDemo, type Demo } from '../../../infra/local/demo.ts';
import { startDemoReceiver } from '../../../infra/local/demo-receiver.ts';
import type { LocalStack } from '../../../infra/local/stack.ts';
import type { Role } from '../../../lib/credentials.ts';
import { type CallerType, isRole } from '../../../lib/http/route.ts';
import { keyIdOf } from '../../../lib/keys/key-secret.ts';
import { sessionIn } from '../../../lib/keys/link-fragment.ts';

export const CALLER_TYPES = [
  'admin',
  'live',
  'test',
  'read',
  'token',
  'viewer',
  'editor',
] as const satisfies readonly CallerType[];

/** The caller of a run. */
export interface Subject {
  name: string;
  credential: string;
  /** A credential of the same type in another project. */
  otherCredential: string;
  /** The id of the key, or of the parent key of the token or session. */
  keyId: string;
  /** Another key of the project, which the run revokes, rotates and restricts. */
  spareKeyId: string;
}

/** Creates a project for each run, with keys of all types and webhooks to a local receiver, so that runs are independent. */
export async function createSubject(stack: LocalStack, type: CallerType): Promise<Subject> {
  const [own, other] = await Promise.all([createKeys(stack), createKeys(stack)]);
  const parent = type === 'token' || isRole(type) ? own.live : own[type];
  const spare = await post(stack, own.admin, '/v1/keys', { type: 'admin', name: 'Spare' });
  const credentialOf = (keys: Demo['keys']) => {
    if (isRole(type)) return createSession(stack, keys.live, type);
    return type === 'token' ? createToken(stack, keys.live) : keys[type];
  };
  return {
    name: type,
    credential: await credentialOf(own),
    otherCredential: await credentialOf(other),
    keyId: idOf(parent),
    spareKeyId: idOf(spare.key),
  };
}

async function createKeys(stack: LocalStack) {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const receiver = await startDemoReceiver(secret, 0, () => {});
  return (await createDemo(stack, receiver, secret)).keys;
}

async function createToken(stack: LocalStack, key: string): Promise<string> {
  const grant = { documents: ['*'], permissions: ['read', 'write'], ttl: 3600 };
  return (await post(stack, key, '/v1/tokens', grant)).token ?? '';
}

async function createSession(stack: LocalStack, key: string, role: Role): Promise<string> {
  const { url } = await post(stack, key, '/v1/dashboard-links', { role, user: 'ann' });
  return sessionIn(new URL(url ?? '').hash) ?? '';
}

const idOf = (key = ''): string => keyIdOf(key) ?? '';

async function post(stack: LocalStack, key: string, path: string, body: unknown): Promise<Record<string, string>> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(stack.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return response.json() as Promise<Record<string, string>>;
}
