/** The maximum number of emails of a project in a window, so that changes and failing webhooks cannot flood any address. */
export const MAX_EMAILS = 5;
export const EMAIL_WINDOW_MS = 10 * 60 * 1000;

/** An email that is not confirmed after this time was lost in a crash. It is longer than the timeout of every function. */
export const LOST_AFTER_MS = 60 * 1000;

/** The maximum number of lines in a summary. Each project has at most 200 webhooks. */
const MAX_LINES = 200;

/** The content of an email or a summary. */
export interface Told {
  /** When the first of it happened, in milliseconds since 1970. */
  since: number;
  /** The number of changes. The audit log contains them. */
  changes: number;
  /** A line for each event that the audit log alone does not explain, such as a disabled webhook. */
  lines: string[];
  /** The addresses of the project when the first of it happened. A later change of the addresses does not hide it from them. */
  to: string[];
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

/** Adds an email that needs no confirmation. */
export const withEmail = (budget: EmailBudget, nowMs: number): EmailBudget => ({
  ...budget,
  sentAt: [...inWindow(budget.sentAt, nowMs), nowMs],
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

/** Removes an email that was sent, or that is not needed anymore. */
export const confirmed = (budget: EmailBudget, id: string) => ({
  next: { ...budget, reserved: budget.reserved.filter((each) => each.id !== id) },
});

/** Reserves a summary of everything that was held back or lost, if there is any and an email is allowed. */
export function summarized(
  budget: EmailBudget,
  id: string,
  nowMs: number,
): { told: Told | undefined; next: EmailBudget } {
  const lost = budget.reserved.filter(({ at }) => at + LOST_AFTER_MS <= nowMs);
  const parts = [...lost.map(({ id: _, at: __, ...told }) => told), ...(budget.held ? [budget.held] : [])];
  const told = parts.reduce<Told | undefined>(joined, undefined);
  const others = { ...budget, reserved: budget.reserved.filter((each) => !lost.includes(each)), held: undefined };
  if (!told || emailAllowedAt(others, nowMs) > nowMs) return { told: undefined, next: budget };
  return { told, next: reserved(others, id, told, nowMs).next };
}

/** When to check for a summary, if one can be due later. */
export function nextCheckAt(budget: EmailBudget, nowMs: number): number | undefined {
  const times = [...budget.reserved.map(({ at }) => at + LOST_AFTER_MS), ...(budget.held ? [nowMs] : [])];
  if (times.length === 0) return undefined;
  const allowedAt = emailAllowedAt({ ...budget, held: undefined }, nowMs);
  return Math.max(Math.min(...times), allowedAt, nowMs + 1);
}

/** Joins what happened. Without a place for another line, it counts as a change. */
function joined(before: Told | undefined, { since, changes, lines, to }: Told): Told {
  if (!before) return { since, changes, lines, to };
  const all = [...new Set([...before.lines, ...lines])];
  const excess = Math.max(0, all.length - MAX_LINES);
  return {
    since: Math.min(before.since, since),
    changes: before.changes + changes + excess,
    lines: all.slice(0, MAX_LINES),
    to: before.since <= since ? before.to : to,
  };
}

const inWindow = (sentAt: readonly number[], nowMs: number): number[] =>
  sentAt.filter((at) => at > nowMs - EMAIL_WINDOW_MS);
