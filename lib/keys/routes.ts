// The browser imports this file too, so it must stay small.

import { ADMIN, type Routes, VIEWERS, WRITERS } from '../http/route.ts';

const keys = { function: 'keys', callers: ADMIN, permissions: [] } as const;
const tokens = { function: 'tokens', callers: WRITERS, permissions: [] } as const;

export const keyRoutes = {
  createKey: { ...keys, method: 'POST', path: '/v1/keys' },
  listKeys: { ...keys, method: 'GET', path: '/v1/keys' },
  getKey: { ...keys, method: 'GET', path: '/v1/keys/{key}' },
  changeKey: { ...keys, method: 'PATCH', path: '/v1/keys/{key}' },
  getKeyUsage: { ...keys, method: 'GET', path: '/v1/keys/{key}/usage' },
  rotateKey: { ...keys, method: 'POST', path: '/v1/keys/{key}/rotate' },
  revokeKey: { ...keys, method: 'POST', path: '/v1/keys/{key}/revoke' },
  setAllowlist: { ...keys, method: 'POST', path: '/v1/keys/{key}/allowlist' },
  getAllowlist: { ...keys, method: 'GET', path: '/v1/keys/{key}/allowlist' },
} as const satisfies Routes;

export const tokenRoutes = {
  createToken: { ...tokens, method: 'POST', path: '/v1/tokens' },
  listTokenKeys: { ...tokens, method: 'GET', path: '/v1/tokens/keys' },
  verifyToken: { ...tokens, callers: VIEWERS, method: 'POST', path: '/v1/tokens/verify' },
  revokeToken: { ...tokens, method: 'POST', path: '/v1/tokens/{token_id}/revoke' },
} as const satisfies Routes;

export const linkRoutes = {
  createDashboardLink: { ...tokens, method: 'POST', path: '/v1/dashboard-links' },
} as const satisfies Routes;
