import * as v from 'valibot';
import { AuditResource } from '../access/audit.ts';
import { described, timestampInput } from '../schema.ts';
import { ADMIN, listOf, operation, page } from './operation.ts';

const project = { function: 'project', callers: ADMIN } as const;

const id = v.pipe(v.string(), v.maxLength(100, 'must have at most 100 characters'));

export const projectOperations = {
  listAudit: operation({
    ...project,
    method: 'GET',
    path: '/v1/audit',
    summary: 'List who changed keys, allowlists, tokens, webhooks and the project, newest first',
    query: {
      ...page,
      since: v.optional(
        described(timestampInput, 'Only changes at this time or later; entries are kept for 400 days.'),
      ),
      actor: v.optional(described(id, 'Only changes that were made with this key.')),
      target: v.optional(described(id, 'Only changes of this key, token, webhook or project.')),
    },
    responses: { 200: listOf(AuditResource) },
  }),
};
