import type { Access } from '../access.ts';
import { problemIn, reasonOf, retryAfterOf, send } from '../publish-batch.ts';

/** A connection as the service reports it in `connection.lost`. */
export interface OpenConnection {
  id: string;
  node_id: string;
  document_key?: string;
  user?: string;
}

export interface LeaseOptions extends Access {
  /** New for each start of the process, so that the end of an earlier one is reported. */
  engineId: string;
  /** How long the service waits for a renewal before it reports every open connection as lost. */
  leaseSeconds: number;
  log(message: string): void;
}

/** Changes in one request. */
const MAX_CHANGES = 500;
/** Renewals in the time of a lease, so that a few can fail. */
const RENEWALS = 6;
const MIN_TIMEOUT_MS = 5000;

/**
 * Keeps the lease of a sync engine with its open connections. One request renews it and contains the changes since the last one, so its
 * cost depends on the changes and not on the number of connections. No connection, no requests.
 */
export function engineLease({ engineId, leaseSeconds, log, ...access }: LeaseOptions) {
  const open = new Map<string, OpenConnection>();
  /** The connections that the service does not know yet, and those that have closed since. */
  const opened = new Map<string, OpenConnection>();
  const closed = new Map<string, { id: string; lost?: true }>();
  /** The opened connections that the service may know, because they were in a request. */
  const sent = new Set<string>();
  /** When the service opened the lease, as it says. */
  let openedAt: string | undefined;
  let failures = 0;
  let timer: { at: number; handle: ReturnType<typeof setTimeout> } | undefined;
  let running: Promise<void> | undefined;
  let isEnded = false;
  const path = `/v1/engines/${engineId}`;
  const periodMs = (1000 * leaseSeconds) / RENEWALS;

  async function request(method: string, options: { body?: string; timeoutMs: number }): Promise<string> {
    const { response, text } = await send(access, method, path, options);
    if (response.ok) return text;
    const error = new Error(reasonOf(response.status, problemIn(text)));
    throw Object.assign(error, { retryAfterSeconds: retryAfterOf(response) });
  }

  /** Returns whether the request had all changes. */
  async function renew(): Promise<boolean> {
    const openings = [...opened.values()].slice(0, MAX_CHANGES);
    const hasOpened = openings.length === opened.size; // a connection must be opened before it is closed
    const closings = hasOpened ? [...closed.values()].slice(0, MAX_CHANGES - openings.length) : [];
    const isComplete = hasOpened && closings.length === closed.size;
    const body = JSON.stringify({ lease_seconds: leaseSeconds, opened: openings, closed: closings });
    for (const { id } of openings) sent.add(id);
    const text = await request('PUT', { body, timeoutMs: Math.max(periodMs, MIN_TIMEOUT_MS) });
    const { opened_at } = JSON.parse(text) as { opened_at: string }; // throws for the page of a proxy
    for (const { id } of openings) opened.delete(id);
    for (const { id } of closings) {
      closed.delete(id);
      sent.delete(id);
    }
    // A lease that has expired starts again without its connections, which the service has reported.
    const isNew = openedAt !== undefined && opened_at !== openedAt;
    if (isNew) for (const [id, connection] of open) if (!openings.includes(connection)) opened.set(id, connection);
    openedAt = opened_at;
    return isComplete && !isNew;
  }

  async function run(): Promise<void> {
    try {
      const isComplete = await renew();
      if (failures > 0) log('Requests for the lease of the engine succeed again.');
      failures = 0;
      if (!isComplete) schedule(0);
      else if (open.size + opened.size + closed.size > 0) schedule(waitMs());
    } catch (error) {
      const { message, retryAfterSeconds } = error as Error & { retryAfterSeconds?: number };
      if (failures++ === 0) log(`A request for the lease of the engine is repeated: ${message}`);
      const backoffMs = 1000 * (retryAfterSeconds ?? 2 ** Math.min(failures, 6) * (0.25 + Math.random() / 4));
      schedule(Math.min(backoffMs, periodMs));
    } finally {
      running = undefined;
    }
  }

  async function reportLost(): Promise<void> {
    const lost = () => [...closed.values()].filter((each) => each.lost).length;
    try {
      while (lost() > 0) await renew();
    } catch (error) {
      log(`${lost()} lost connections are not reported: ${(error as Error).message}`);
    }
  }

  /** Lets the next request start after this time, unless it starts earlier anyway. */
  function schedule(afterMs: number): void {
    const at = Date.now() + afterMs;
    if (isEnded || (timer && timer.at <= at)) return;
    clearTimeout(timer?.handle);
    const start = () => {
      timer = undefined;
      running = run();
    };
    timer = { at, handle: setTimeout(start, afterMs) };
  }

  /** Changes wait for the next renewal, unless they fill a request. */
  const waitMs = (): number => (opened.size + closed.size >= MAX_CHANGES ? 0 : periodMs);

  /** The first connection starts the lease. After a request in progress or a failure, the next request is scheduled anyway. */
  function changed(): void {
    if (running || failures > 0) return;
    schedule(openedAt === undefined ? Math.min(100, waitMs()) : waitMs());
  }

  return {
    open(connection: OpenConnection): void {
      open.set(connection.id, connection);
      opened.set(connection.id, connection);
      changed();
    },
    /** Closes a connection. The service reports a lost one, and no other. */
    close(id: string, isLost: boolean): void {
      if (!open.delete(id)) return;
      if (!sent.has(id) && !isLost) opened.delete(id);
      else closed.set(id, { id, ...(isLost && { lost: true }) });
      changed();
    },
    /** Closes all connections and the lease. Only connections that were lost before are reported. */
    async end(): Promise<void> {
      isEnded = true;
      clearTimeout(timer?.handle);
      await running;
      await reportLost();
      if (openedAt === undefined) return;
      await request('DELETE', { timeoutMs: MIN_TIMEOUT_MS }).catch(({ message }) =>
        log(`The lease of the engine is not closed: ${message}`),
      );
    },
  };
}
