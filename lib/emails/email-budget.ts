import { isDeepStrictEqual } from 'node:util';

/** The maximum number of emails of a project in a window, so that changes and failing webhooks cannot flood any address. */
export const MAX_EMAILS = 5;
export const EMAIL_WINDOW_MS = 10 * 60 * 1000;

/** An email that is not confirmed after this time was lost in a crash. It is longer than the timeout of every function. */
export const LOST_AFTER_MS = 60 * 1000;

/** The maximum number of lines in a summary. Each project has at most 200 webhooks. */
const MAX_LINES = 200;

/** A line of a summary, with the page of the dashboard that its link opens. */
export interface Line {
  text: string;
  place: string;
}

/** The content of an email or a summary. */
export interface Told {
  /** When the first of it happened, in milliseconds since 1970. */
  since: number;
  /** The number of changes. The audit log contains them. */
  changes: number;
  /** A line for each event that the audit log alone does not explain, such as a disabled webhook. */
  lines: Line[];
  /** The recipients of the project when the first of it happened. A later change of the addresses does not hide it from them. */
  to: string[];
  /** New addresses whose owners are asked, each with an email of its own. */
  asked?: Asked[] | undefined;
}

/** An address, and when the email to it was requested. */
interface Asked {
  email: string;
  at: number;
}

/** An email that was reserved, and whose end is unknown. */
interface Reserved extends Told {
  id: string;
  at: number;
}

/** The emails of a project in the current window. Times are in milliseconds since 1970. */
export interface EmailBudget {
  /** Increases with every change. */
  version: number;
  /** When each email of the window was reserved. */
  sentAt: number[];
  reserved: Reserved[];
  /** The content of the next summary. While it is present, no other email is sent, so that a summary never waits for a free place. */
  held?: Told | undefined;
  /** When the next check for a summary is due. A time in the past means that none is under way. */
  checkAt: number;
}

export const EMPTY_BUDGET: EmailBudget = { version: 0, sentAt: [], reserved: [], checkAt: 0 };

/** When the next email can be sent: now, or when the oldest email leaves the window. */
export function emailAllowedAt({ sentAt, held }: EmailBudget, nowMs: number): number {
  const [oldest = nowMs, ...others] = inWindow(sentAt, nowMs);
  if (others.length + 1 >= MAX_EMAILS) return oldest + EMAIL_WINDOW_MS;
  return held ? nowMs + LOST_AFTER_MS : nowMs;
}

/** Adds emails that need no confirmation. */
export const withEmail = (budget: EmailBudget, nowMs: number, count = 1): EmailBudget => ({
  ...budget,
  sentAt: [...inWindow(budget.sentAt, nowMs), ...Array(count).fill(nowMs)],
});

/** Reserves an email for what happened, or holds it back for a summary if no email is allowed. */
export function reserved(
  budget: EmailBudget,
  id: string,
  told: Told,
  nowMs: number,
): { isAllowed: boolean; next: EmailBudget } {
  const isAllowed = emailAllowedAt(budget, nowMs) <= nowMs;
  const next = isAllowed
    ? { ...withEmail(budget, nowMs), reserved: [...budget.reserved, { id, at: nowMs, ...told }] }
    : { ...budget, held: joined(budget.held, told) };
  return { isAllowed, next };
}

/** Ends the reservation of an email that was sent. */
export const confirmed = (budget: EmailBudget, id: string): { next: EmailBudget } => ({
  next: { ...budget, reserved: budget.reserved.filter((each) => each.id !== id) },
});

/** Ends the reservation of an email that is not needed anymore, and returns its place. */
export function released(budget: EmailBudget, id: string): { next: EmailBudget } {
  const { next } = confirmed(budget, id);
  const place = budget.sentAt.indexOf(budget.reserved.find((each) => each.id === id)?.at ?? Number.NaN);
  return { next: place < 0 ? next : { ...next, sentAt: next.sentAt.toSpliced(place, 1) } };
}

/** Whether a summary has something to say. The owners of new addresses receive no summary. */
export const hasNews = ({ changes, lines }: Told): boolean => changes > 0 || lines.length > 0;

/**
 * Reserves a summary of everything that was held back or lost, and the emails that ask the owners of addresses, as far as emails are
 * allowed. The rest stays held back. `isPending` is whether an address still waits for its email.
 */
export function summarized(
  budget: EmailBudget,
  id: string,
  nowMs: number,
  isPending: (email: string) => boolean,
): { told: Told | undefined; next: EmailBudget } {
  const lost = budget.reserved.filter(({ at }) => at + LOST_AFTER_MS <= nowMs);
  const parts = [...lost.map(({ id: _, at: __, ...told }) => told), ...(budget.held ? [budget.held] : [])];
  const all = parts.reduce<Told | undefined>(joined, undefined);
  const others = { ...budget, reserved: budget.reserved.filter((each) => !lost.includes(each)), held: undefined };
  if (!all || emailAllowedAt(others, nowMs) > nowMs) return { told: undefined, next: budget };
  // The change that adds an address can be later than this check.
  const waiting = (all.asked ?? []).filter(({ email, at }) => isPending(email) || at + LOST_AFTER_MS > nowMs);
  const places = MAX_EMAILS - inWindow(others.sentAt, nowMs).length - Number(hasNews(all));
  const asked = waiting.filter(({ email }) => isPending(email)).slice(0, places);
  const later = waiting.filter((each) => !asked.includes(each));
  const held = later.length > 0 ? { since: nowMs, changes: 0, lines: [], to: [], asked: later } : undefined;
  const told = { ...all, asked };
  const count = asked.length + Number(hasNews(all));
  if (count === 0) return { told: undefined, next: { ...others, held } };
  const next = { ...withEmail(others, nowMs, count), reserved: [...others.reserved, { id, at: nowMs, ...told }], held };
  return { told, next };
}

/** When to check for a summary, if one can be due later. */
export function nextCheckAt(budget: EmailBudget, nowMs: number): number | undefined {
  const times = [...budget.reserved.map(({ at }) => at + LOST_AFTER_MS), ...(budget.held ? [nowMs] : [])];
  if (times.length === 0) return undefined;
  const allowedAt = emailAllowedAt({ ...budget, held: undefined }, nowMs);
  return Math.max(Math.min(...times), allowedAt, nowMs + 1);
}

/** Joins what happened. Without a place for another line, it counts as a change. */
function joined(before: Told | undefined, { since, changes, lines, to, asked = [] }: Told): Told {
  const told = { since, changes, lines, to, asked };
  if (!before) return told;
  const [first = before] = [before, told].filter(hasNews).sort((one, other) => one.since - other.since);
  const all = [...before.lines, ...lines.filter((line) => !before.lines.some((each) => isDeepStrictEqual(each, line)))];
  const excess = Math.max(0, all.length - MAX_LINES);
  const { asked: others = [] } = before;
  return {
    since: first.since,
    changes: before.changes + changes + excess,
    lines: all.slice(0, MAX_LINES),
    to: first.to,
    asked: [...others, ...asked.filter(({ email }) => !others.some((each) => each.email === email))],
  };
}

const inWindow = (sentAt: readonly number[], nowMs: number): number[] =>
  sentAt.filter((at) => at > nowMs - EMAIL_WINDOW_MS);
