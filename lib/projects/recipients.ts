import * as v from 'valibot';
import { uniqueList } from '../lists.ts';

/** The maximum number of notification addresses of a project. */
const MAX_EMAILS = 5;

// A dot-string at a domain of several labels (RFC 5321 §4.1.2), which SES accepts. SES rejects the complete email for one invalid
// address.
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
export const EmailAddress = v.pipe(
  v.string('must be a string'),
  v.regex(new RegExp(`^${ATOM}(?:\\.?${ATOM}){0,63}@${LABEL}(?:\\.${LABEL})+$`), 'must be an email address'),
  v.check((value) => value.indexOf('@') <= 64, 'must have at most 64 characters before the @'), // RFC 5321 §4.5.3.1.1
  v.maxLength(254, 'must have at most 254 characters'), // RFC 5321 §4.5.3.1.3
);

/** The notification addresses of a project, which differ in more than case. */
export const Emails = uniqueList(EmailAddress, 1, MAX_EMAILS, (address) => address.toLowerCase());
/** Why an address is undeliverable: its server rejected an email permanently, or its owner reported an email as spam. */
export const UNDELIVERABLE = ['bounced', 'complained'] as const;

/** A report of SES about an address. */
export interface MailboxMark {
  reason: (typeof UNDELIVERABLE)[number];
  at: number;
}

/** What is known about an address of a project. Times are in milliseconds since 1970. */
export interface Mailbox {
  email: string;
  /** Whether its owner agreed to emails of this project. */
  isConfirmed: boolean;
  /** When an email that asks its owner was last requested. */
  askedAt?: number | undefined;
  mark?: MailboxMark | undefined;
  /** When the project removed the address. */
  removedAt?: number | undefined;
}

/** The addresses of a project. One without a mailbox was given to `CreateProject`, so the operator has confirmed it. */
interface Addresses {
  emails: readonly string[];
  mailboxes?: readonly Mailbox[] | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long a mark applies, and how long a removed address is known. Adding it again resets neither a mark nor a limit. */
const KNOWN_MS = 30 * DAY_MS;
/** How long a project waits before it asks the same address again. */
const ASKED_AGAIN_MS = DAY_MS;
/** The maximum number of addresses that a project has or had in the last 30 days, so that it cannot send emails to many others. */
export const MAX_MAILBOXES = 30;

/** Whether two addresses differ at most in case. Mail servers treat them as one mailbox, and can change the case. */
export const isSameMailbox = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

const has = (emails: readonly string[], address: string): boolean =>
  emails.some((each) => isSameMailbox(each, address));

const mailboxOf = ({ mailboxes = [] }: Addresses, address: string): Mailbox =>
  mailboxes.find(({ email }) => isSameMailbox(email, address)) ?? { email: address, isConfirmed: true };

/** Whether an address can receive emails other than the one that asks its owner. */
export const isConfirmed = (project: Addresses, address: string): boolean => mailboxOf(project, address).isConfirmed;

/** When the owner of an address was last asked. */
export const askedAtOf = (project: Addresses, address: string) => mailboxOf(project, address).askedAt;

/** The earliest time at which the owner of an address can be asked. */
export const askableAt = (project: Addresses, address: string): number =>
  (askedAtOf(project, address) ?? Number.NEGATIVE_INFINITY) + ASKED_AGAIN_MS;

/** The mark of an address, if it has one that still applies. */
export function markOf(project: Addresses, address: string, nowMs: number): MailboxMark | undefined {
  const { mark } = mailboxOf(project, address);
  return mark && mark.at > nowMs - KNOWN_MS ? mark : undefined;
}

/**
 * The recipients of an email to a project: each of its confirmed mailboxes once, without the undeliverable ones. `before` are those
 * of an earlier time, when the email was due.
 */
export function recipientsOf(project: Addresses, nowMs: number, before: readonly string[] = []): string[] {
  const confirmed = project.emails.filter((address) => isConfirmed(project, address));
  return [...confirmed, ...before].filter((address, i, all) => {
    const isFirst = all.findIndex((each) => isSameMailbox(each, address)) === i;
    return isFirst && !markOf(project, address, nowMs);
  });
}

/** Whether an address of the project waits for the agreement of its owner. */
export const isPending = (project: Addresses, address: string): boolean =>
  has(project.emails, address) && !isConfirmed(project, address);

/**
 * The mailboxes of a project that gets other addresses, and the new addresses whose owners to ask now. `null` if the project would
 * have too many. A new address is not confirmed, even if the project had it before.
 */
export function withEmails(
  project: Addresses,
  emails: readonly string[],
  nowMs: number,
): { mailboxes: Mailbox[]; asked: string[] } | null {
  const added = emails.filter((email) => !has(project.emails, email));
  const removed = project.emails.filter((email) => !has(emails, email));
  let mailboxes = (project.mailboxes ?? []).filter((each) => has(project.emails, each.email) || isKnown(each, nowMs));
  for (const email of added)
    mailboxes = withMailbox(mailboxes, email, { email, isConfirmed: false, removedAt: undefined });
  for (const email of removed) mailboxes = withMailbox(mailboxes, email, { removedAt: nowMs });
  const known = new Set([...mailboxes.map(({ email }) => email), ...emails].map((email) => email.toLowerCase()));
  if (added.length > 0 && known.size > MAX_MAILBOXES) return null;
  const next = { emails, mailboxes };
  const asked = added.filter((email) => askableAt(next, email) <= nowMs && !markOf(next, email, nowMs));
  for (const email of asked) mailboxes = withMailbox(mailboxes, email, { askedAt: nowMs });
  return { mailboxes, asked };
}

/** Whether a removed address still counts. */
const isKnown = ({ removedAt = 0, mark }: Mailbox, nowMs: number): boolean =>
  Math.max(removedAt, mark?.at ?? 0) > nowMs - KNOWN_MS;

/** Changes what is known about an address. */
export function withMailbox(mailboxes: readonly Mailbox[] = [], address: string, change: Partial<Mailbox>): Mailbox[] {
  const changed = { ...mailboxOf({ emails: [], mailboxes }, address), ...change };
  const others = mailboxes.filter(({ email }) => !isSameMailbox(email, address));
  const isNew = others.length === mailboxes.length;
  return isNew ? [...mailboxes, changed] : mailboxes.map((each) => (others.includes(each) ? each : changed));
}

/** The mailboxes with the mark of an address. `undefined` if nothing is known about the address. */
export function withMark(project: Addresses, address: string, mark: MailboxMark): Mailbox[] | undefined {
  const { emails, mailboxes = [] } = project;
  const isOfProject = has([...emails, ...mailboxes.map(({ email }) => email)], address);
  return isOfProject ? withMailbox(mailboxes, address, { mark }) : undefined;
}
