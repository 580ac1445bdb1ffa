import { operation, WRITERS } from '../http/operation.ts';
import { tokenParameter } from './revoked-tokens.ts';
import { CreateToken, TokenResource } from './token.ts';
import { TokenVerification, VerifyToken } from './token-verification.ts';

const token = { function: 'tokens', callers: WRITERS } as const;

export const tokenOperations = {
  createToken: operation({
    ...token,
    method: 'POST',
    path: '/v1/tokens',
    summary: 'Create a scoped token. It is shown only once',
    body: CreateToken,
    responses: { 201: TokenResource },
    idempotencyKey: true,
    secrets: ['token'],
  }),
  verifyToken: operation({
    ...token,
    method: 'POST',
    path: '/v1/tokens/verify',
    summary: 'Check a token that a client presented to your own server',
    body: VerifyToken,
    responses: { 200: TokenVerification },
  }),
  revokeToken: operation({
    ...token,
    method: 'POST',
    path: '/v1/tokens/{token_id}/revoke',
    parameters: { token_id: tokenParameter },
    summary: 'Revoke a token immediately. Live and test keys revoke only tokens of keys of their type',
    responses: { 204: null },
    problems: ['limit_reached'],
  }),
};
