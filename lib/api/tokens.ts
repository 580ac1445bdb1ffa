import { MintedToken, MintToken } from '../access/tokens.ts';
import { operation, WRITERS } from './operation.ts';

export const tokenOperations = {
  createToken: operation({
    function: 'tokens',
    callers: WRITERS,
    method: 'POST',
    path: '/v1/tokens',
    summary: 'Create a scoped token, shown once',
    body: MintToken,
    responses: { 201: MintedToken },
    location: '/v1/tokens/{token_id}',
    creates: true,
    secrets: ['token'],
  }),
};
