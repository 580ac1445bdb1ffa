import * as v from 'valibot';
import { bucketOf } from '../ids.ts';
import { optional } from '../optional.ts';
import { described, iso, isoOrNull, request, resource, text, timestamp } from '../schema.ts';
import { askedAtOf, EmailAddress, Emails, isConfirmed, type Mailbox, markOf, UNDELIVERABLE } from './recipients.ts';

/** A stored project. Times are in milliseconds since 1970. */
export interface ProjectRecord {
  id: string;
  name: string;
  /** Where notifications go. */
  emails: string[];
  /** Encrypts the cursors of this project: 32 random bytes, base64url. A secret. */
  cursorSecret: string;
  createdAt: number;
  /** What is known about these addresses, and about others that the project had in the last 30 days. */
  mailboxes?: Mailbox[] | undefined;
  /** When the last test email was sent. */
  testEmailAt?: number | undefined;
  /** The state of the budget of deliveries (lib/deliveries/budget.ts). */
  deliveriesUsedUntil?: number | undefined;
  /** When an operator suspended the project. Its credentials and webhooks do not work until the project is resumed. */
  suspendedAt?: number | undefined;
  /** When its deletion started, which cannot be undone. The project is also suspended. */
  deletingAt?: number | undefined;
}

export type ProjectState = 'active' | 'suspended' | 'deleting';

export function projectState({ suspendedAt, deletingAt }: ProjectRecord): ProjectState {
  if (deletingAt !== undefined) return 'deleting';
  return suspendedAt === undefined ? 'active' : 'suspended';
}

/** Milliseconds between two test emails of a project. */
const TEST_EMAIL_INTERVAL_MS = 60_000;

/** The earliest time of the next test email, which also needs a place in the budget of emails. It is free at `placeFreeAt`. */
export const testEmailAllowedAt = (
  { testEmailAt = Number.NEGATIVE_INFINITY }: Pick<ProjectRecord, 'testEmailAt'>,
  placeFreeAt: number,
): number => Math.max(testEmailAt + TEST_EMAIL_INTERVAL_MS, placeFreeAt);

// Emails contain the name. Without format characters and URLs, it cannot imitate another text or a link there. Joiners belong to the
// spelling of Persian and of Indian languages, and to emoji.
export const ProjectName = v.pipe(
  text(1, 100),
  v.check((value) => !/(?!\p{Join_Control})\p{Cf}/u.test(value), 'must not contain format characters'),
  v.check((value) => !value.includes('://'), 'must not contain ://'),
);
const name = described(ProjectName, 'The name of the project. Emails use it.');
const emails = described(
  Emails,
  'The addresses that receive every notification. They differ in more than case. A new address first receives an email with a link that confirms it.',
);

export const ChangeProject = request('ChangeProject', {
  name: optional(name),
  emails: optional(emails),
});

export const ConfirmEmail = request('ConfirmEmail', {
  email: described(EmailAddress, 'One of the addresses of the project.'),
});

export const SendConfirmation = request('SendConfirmation', {
  email: described(EmailAddress, 'One of `unconfirmed_emails`.'),
});

export const ProjectResource = resource('Project', {
  id: described(v.string(), 'Identifies the project.'),
  name,
  emails,
  undeliverable_emails: described(
    v.array(
      v.object({
        email: described(v.string(), 'One of `emails`.'),
        reason: described(
          v.picklist(UNDELIVERABLE),
          '`bounced`: the mail server rejected an email permanently. `complained`: the recipient reported an email as spam.',
        ),
        at: described(timestamp, 'When this was reported.'),
      }),
    ),
    'The addresses that receive no emails until you confirm them, or for 30 days.',
  ),
  unconfirmed_emails: described(
    v.array(
      v.object({
        email: described(v.string(), 'One of `emails`.'),
        requested_at: described(
          v.nullable(timestamp),
          'When an email with a link was last requested. It can follow some minutes later. `null` if none was requested.',
        ),
      }),
    ),
    'The new addresses whose owners have not opened the link in their email and confirmed it. They receive no other emails.',
  ),
  source_addresses: described(
    v.array(v.string()),
    'The IPv4 addresses that deliveries come from, for your firewall. Empty if they come from changing addresses.',
  ),
  created_at: described(timestamp, 'When the project was created.'),
});

/** The stored members of a project. */
export const projectResource = (project: ProjectRecord, nowMs: number) => ({
  id: project.id,
  name: project.name,
  emails: project.emails,
  undeliverable_emails: project.emails.flatMap((address) => {
    const mark = markOf(project, address, nowMs);
    return mark ? [{ email: address, reason: mark.reason, at: iso(mark.at) }] : [];
  }),
  unconfirmed_emails: project.emails
    .filter((address) => !isConfirmed(project, address))
    .map((address) => ({ email: address, requested_at: isoOrNull(askedAtOf(project, address)) })),
  created_at: iso(project.createdAt),
});

/**
 * Shares of the API's request rate. A project always has the same share, and API Gateway limits the rate of each share (API
 * Gateway Developer Guide, "Usage plans and API keys"). A project over its rate delays only the projects of its share.
 */
export const SHARES = 32;

/** The usage-plan key of a share. It grants no access. */
export const shareKey = (prefix: string, share: number): string => `${prefix}${String(share).padStart(2, '0')}`;

export const shareKeyOf = (prefix: string, projectId: string): string => shareKey(prefix, bucketOf(projectId, SHARES));
