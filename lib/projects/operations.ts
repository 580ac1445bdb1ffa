import * as v from 'valibot';
import { AuditEntryResource } from '../audit/audit.ts';
import { ConfirmAddress, ConfirmedAddress } from '../emails/confirmation.ts';
import { listOf, operationsOf, pageQuery } from '../http/operation.ts';
import { described, timestampInput } from '../schema.ts';
import { ChangeProject, ConfirmEmail, ProjectResource, SendConfirmation } from './project.ts';
import { EmailAddress } from './recipients.ts';
import { projectRoutes } from './routes.ts';

const id = v.pipe(v.string(), v.maxLength(100, 'must have at most 100 characters'));

const TestEmail = v.object({
  emails: described(v.array(EmailAddress), 'The addresses that the test email was sent to.'),
});

export const projectOperations = operationsOf(projectRoutes, {
  getProject: {
    summary: 'Read the project',
    responses: { 200: ProjectResource },
  },
  changeProject: {
    summary: 'Change the name and the notification addresses',
    body: ChangeProject,
    responses: { 200: ProjectResource },
    problems: ['limit_reached'],
  },
  sendTestEmail: {
    summary: 'Send a test email to all confirmed addresses of the project, at most once per minute',
    responses: { 202: TestEmail },
    problems: ['conflict'],
  },
  confirmEmail: {
    summary: 'Confirm that an undeliverable address works, and send it a test email',
    body: ConfirmEmail,
    responses: { 200: ProjectResource },
  },
  sendConfirmation: {
    summary: 'Send a new address the link that confirms it again, at most once per day',
    body: SendConfirmation,
    responses: { 202: ProjectResource },
  },
  confirmAddress: {
    summary: 'Confirm a new address with the token of the link that it received',
    body: ConfirmAddress,
    responses: { 200: ConfirmedAddress },
    problems: ['invalid_request', 'not_found'],
  },
  listAudit: {
    summary: 'List changes to keys, allowlists, tokens, webhooks and the project, newest first',
    query: {
      ...pageQuery,
      since: v.optional(
        described(timestampInput, 'Only changes at this time or later. Entries are kept for 400 days.'),
      ),
      actor: v.optional(described(id, 'Only changes made with this key.')),
      target: v.optional(described(id, 'Only changes to this key, token, webhook or project.')),
    },
    responses: { 200: listOf(AuditEntryResource) },
  },
});
