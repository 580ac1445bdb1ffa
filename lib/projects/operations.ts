import * as v from 'valibot';
import { AuditEntryResource } from '../audit/audit.ts';
import { ConfirmAddress, ConfirmedAddress } from '../emails/confirmation.ts';
import { ADMIN, listOf, operation, page } from '../http/operation.ts';
import { described, timestampInput } from '../schema.ts';
import { ChangeProject, ConfirmEmail, EmailAddress, ProjectResource, SendConfirmation } from './project.ts';

const project = { function: 'project', callers: ADMIN } as const;

const id = v.pipe(v.string(), v.maxLength(100, 'must have at most 100 characters'));

const TestEmail = v.object({
  emails: described(v.array(EmailAddress), 'The addresses that the test email was sent to.'),
});

export const projectOperations = {
  getProject: operation({
    ...project,
    method: 'GET',
    path: '/v1/project',
    summary: 'Read the project',
    responses: { 200: ProjectResource },
  }),
  changeProject: operation({
    ...project,
    method: 'PATCH',
    path: '/v1/project',
    summary: 'Change the name and the notification addresses',
    body: ChangeProject,
    responses: { 200: ProjectResource },
    problems: ['limit_reached'],
  }),
  sendTestEmail: operation({
    ...project,
    method: 'POST',
    path: '/v1/project/test-mail',
    summary: 'Send a test email to all confirmed addresses of the project, at most once per minute',
    responses: { 202: TestEmail },
    problems: ['conflict'],
  }),
  confirmEmail: operation({
    ...project,
    method: 'POST',
    path: '/v1/project/confirm-email',
    summary: 'Confirm that an undeliverable address works, and send it a test email',
    body: ConfirmEmail,
    responses: { 200: ProjectResource },
  }),
  sendConfirmation: operation({
    ...project,
    method: 'POST',
    path: '/v1/project/send-confirmation',
    summary: 'Send a new address the link that confirms it again, at most once per day',
    body: SendConfirmation,
    responses: { 202: ProjectResource },
  }),
  confirmAddress: operation({
    function: 'project',
    callers: 'anyone',
    method: 'POST',
    path: '/v1/email-confirmations',
    summary: 'Confirm a new address with the token of the link that it received',
    body: ConfirmAddress,
    responses: { 200: ConfirmedAddress },
    problems: ['invalid_request', 'not_found'],
  }),
  listAudit: operation({
    ...project,
    method: 'GET',
    path: '/v1/audit',
    summary: 'List changes to keys, allowlists, tokens, webhooks and the project, newest first',
    query: {
      ...page,
      since: v.optional(
        described(timestampInput, 'Only changes at this time or later. Entries are kept for 400 days.'),
      ),
      actor: v.optional(described(id, 'Only changes made with this key.')),
      target: v.optional(described(id, 'Only changes to this key, token, webhook or project.')),
    },
    responses: { 200: listOf(AuditEntryResource) },
  }),
};
