/** The content of a scoped token whose signature is not verified yet. */
export interface ParsedToken {
  algorithm: string;
  keyId: string;
  claims: unknown;
  signed: Uint8Array<ArrayBuffer>;
  signature: Uint8Array<ArrayBuffer>;
}

/** The claims of a token that the service created. */
export interface Claims {
  sub: string;
  jti: string;
  exp: number;
  env: 'live' | 'sandbox';
  documents: string[];
  permissions: ('read' | 'write')[];
  user?: string;
}

const MAX_TOKEN_BYTES = 2048;
const MAX_TTL_SECONDS = 86_400;
const TYPE = 'svc-doc+jwt';
const ISSUER = 'document-sync';

/** Parses a token (RFC 7519) with three canonical parts in base64url. Returns `null` for any other text. */
export function parseToken(token: string): ParsedToken | null {
  const [head = '', payload = '', end = '', ...others] = token.split('.');
  const parts = [head, payload, end].map(bytesOf);
  const [header, content, signature] = parts;
  if (token.length > MAX_TOKEN_BYTES || others.length > 0 || !header || !content || !signature) return null;
  const { alg, typ, kid, ...more } = (jsonIn(header) ?? {}) as Record<string, unknown>;
  if (typ !== TYPE || typeof alg !== 'string' || typeof kid !== 'string' || Object.keys(more).length > 0) return null;
  const signed = new TextEncoder().encode(`${head}.${payload}`);
  return { algorithm: alg, keyId: kid, claims: jsonIn(content), signed, signature };
}

/** Returns the claims if they have every required one in its form. The time of expiry is not checked. */
export function claimsIn({ claims, keyId }: ParsedToken): Claims | null {
  if (typeof claims !== 'object' || claims === null) return null;
  const { iss, aud, sub, jti, iat, exp, env, documents, permissions, user } = claims as Record<string, unknown>;
  const isValid =
    iss === ISSUER &&
    typeof aud === 'string' &&
    sub === keyId &&
    typeof jti === 'string' &&
    isTime(iat) &&
    isTime(exp) &&
    exp - iat <= MAX_TTL_SECONDS &&
    (env === 'live' || env === 'sandbox') &&
    isTexts(documents) &&
    isTexts(permissions) &&
    permissions.every((permission) => permission === 'read' || permission === 'write') &&
    (user === undefined || typeof user === 'string');
  return isValid ? (claims as Claims) : null;
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value);
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'string');

/** Decodes base64url without padding. Returns `null` unless the text is the only one for its bytes (RFC 4648 §3.5). */
function bytesOf(text: string): Uint8Array<ArrayBuffer> | null {
  if (text === '' || !/^[A-Za-z0-9_-]+$/.test(text)) return null;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const canonical = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    return canonical === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}
