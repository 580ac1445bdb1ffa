import * as v from 'valibot';
import { operationsOf } from '../http/operation.ts';
import { described } from '../schema.ts';
import { tokenParameter } from './revoked-tokens.ts';
import { tokenRoutes } from './routes.ts';
import { CreateToken, TokenResource } from './token.ts';
import { TokenVerification, VerifyToken } from './token-introspection.ts';
import { TokenKeySet } from './token-keys.ts';

export const tokenOperations = operationsOf(tokenRoutes, {
  createToken: {
    summary: 'Create a scoped token. It is shown only once',
    body: CreateToken,
    responses: { 201: TokenResource },
    idempotencyKey: true,
    secrets: ['token'],
  },
  listTokenKeys: {
    summary: 'Read the public keys of tokens, with which your own server verifies tokens without a request',
    headers: {
      'If-None-Match': v.optional(
        described(v.string(), 'The ETag of an earlier response. If nothing has changed, the response is 304.'),
      ),
    },
    responseHeaders: ['ETag'],
    responses: { 200: TokenKeySet, 304: null },
  },
  verifyToken: {
    summary: 'Check a token that a client presented to your own server',
    body: VerifyToken,
    responses: { 200: TokenVerification },
  },
  revokeToken: {
    parameters: { token_id: tokenParameter },
    summary: 'Revoke a token immediately. Live and test keys revoke only tokens of keys of their type',
    responses: { 204: null },
    problems: ['limit_reached'],
  },
});
