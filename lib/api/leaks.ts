import * as v from 'valibot';
import { LeakFeedback, LeakReport } from '../access/leak-reports.ts';
import { described } from '../schema.ts';
import { MAX_BODY_BYTES, operation } from './operation.ts';

export const leakOperations = {
  reportLeaks: operation({
    function: 'leaks',
    callers: 'anyone',
    method: 'POST',
    path: '/v1/secret-scanning/github',
    summary: 'Report leaked keys. Only GitHub calls this operation, authenticated by its signature',
    headers: {
      'Github-Public-Key-Identifier': v.optional(described(v.string(), 'Which of the published keys signed the body.')),
      'Github-Public-Key-Signature': v.optional(
        described(v.string(), 'ECDSA over P-256 and SHA-256 of the raw body, in base64.'),
      ),
    },
    body: LeakReport,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 200: LeakFeedback },
    problems: ['insufficient_permissions', 'route_not_found', 'invalid_request'],
  }),
};
