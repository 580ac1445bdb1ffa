import type { Email } from './emails.ts';

/** Why an address is undeliverable: its server rejected an email permanently, or its owner reported an email as spam. */
export const UNDELIVERABLE = ['bounced', 'complained'] as const;

/** An address that SES reported, and when. */
export interface UndeliverableEmail {
  email: string;
  reason: (typeof UNDELIVERABLE)[number];
  at: number;
}

/** How long a mark applies, also if its address is removed and added. */
const MARK_MS = 30 * 24 * 60 * 60 * 1000;
/** The maximum number of marks of a project, which has at most 5 addresses at a time. */
const MAX_MARKS = 20;

/** The addresses of a project. */
interface Addresses {
  emails: readonly string[];
  undeliverable?: readonly UndeliverableEmail[] | undefined;
}

/** Whether two addresses differ at most in case. Mail servers treat them as one mailbox, and can change the case. */
export const isSameMailbox = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** The mark of an address, if it has one that still applies. */
export const markOf = ({ undeliverable = [] }: Addresses, address: string, nowMs: number) =>
  undeliverable.find(({ email, at }) => isSameMailbox(email, address) && at > nowMs - MARK_MS);

/** The recipients of an email to a project: each of its mailboxes once, without the undeliverable ones. */
export function recipientsOf(project: Addresses & { id: string }, nowMs: number): Pick<Email, 'projectId' | 'to'> {
  const to = project.emails.filter((address, i, all) => {
    const isFirst = all.findIndex((each) => isSameMailbox(each, address)) === i;
    return isFirst && !markOf(project, address, nowMs);
  });
  return { projectId: project.id, to };
}

/** Adds a mark. If there are too many, the oldest one of an address that the project does not have anymore is removed. */
export function withMark({ emails, undeliverable = [] }: Addresses, mark: UndeliverableEmail): UndeliverableEmail[] {
  const marks = [...undeliverable.filter(({ at }) => at > mark.at - MARK_MS), mark];
  if (marks.length <= MAX_MARKS) return marks;
  return marks.toSpliced(
    marks.findIndex(({ email }) => !emails.some((each) => isSameMailbox(each, email))),
    1,
  );
}
