import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import * as v from 'valibot';
import { ATTEMPT_TIMEOUT_MS } from '../../lib/deliveries/attempt.ts';
import type { EventType } from '../../lib/events/types.ts';
import { visible } from '../../lib/printable.ts';
import { generateSecret, Secret } from '../../lib/webhooks/secrets.ts';
import { signatureHeaders } from '../../lib/webhooks/signature.ts';
import { UserError } from '../user-error.ts';
import { command, runCommand } from './command.ts';
import { readDelivery } from './received.ts';
import { RequestError, request, requireEventType, requireUrl, TARGET_OPTIONS, targetOf } from './target.ts';

const POLL_INTERVAL_MS = 1000;
/** An event can appear after one with a later timestamp, because clocks differ and transactions take time. */
const OVERLAP_MS = 30_000;

export interface Listening {
  /** The base URL of the API, with its stage. */
  baseUrl: string;
  /** A live, test or admin key. */
  key: string;
  /** Without a URL, the command verifies and prints events. */
  forwardTo: string | undefined;
  /** The event types to forward. An empty list means all types. */
  types: readonly string[];
  secret: string;
  signal: AbortSignal;
  print(line: string): void;
  /** Resolves when it is time for the next poll. */
  pause?(): Promise<unknown>;
}

interface Listed {
  id: string;
  type: EventType;
  timestamp: string;
}

/**
 * Forwards every new event to a URL on this machine, with the signature of a webhook, and prints the response. Without a URL, it
 * prints the event. Each event has one attempt, in order from the oldest. Nothing in the service changes. Throws if the API
 * rejects the key.
 */
export async function forwardEvents(options: Listening): Promise<void> {
  const { baseUrl, key, forwardTo, types, secret, signal, print } = options;
  const pause = options.pause ?? (() => wait(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {}));
  const get = (path: string) => request({ baseUrl, key, signal }, 'GET', path);
  const first = await get('/v1/webhooks?limit=1'); // checks the key, with fewer reads than a list of events
  print(`${forwardTo === undefined ? 'Showing events' : `Forwarding to ${forwardTo}`}, signed with ${secret}`);
  let since = Date.parse(first.headers.get('date') ?? '') || Date.now(); // the clock of the service
  const done = new Map<string, number>();

  let lastProblem = '';
  while (!signal.aborted) {
    try {
      for (const { id, type, timestamp } of await eventsSince(since, types, done, get)) {
        // The stored text has the same bytes as deliveries. If this request fails, the next poll finds the event again.
        const body = await (await get(`/v1/events/${id}`)).text();
        done.set(id, Date.parse(timestamp));
        print(`${timestamp}  ${id}  ${await forward(options, { id, type, body })}`);
      }
      since = Math.max(since, ...[...done.values()].map((at) => at - OVERLAP_MS));
      for (const [id, at] of done) if (at < since) done.delete(id);
      if (lastProblem !== '') print('Polling works again.');
      lastProblem = '';
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RequestError && [401, 403].includes(error.status)) throw error;
      const { message } = error as Error;
      if (message !== lastProblem) print(`Polling failed, trying again: ${message}`);
      lastProblem = message;
    }
    await pause();
  }
}

/** Returns the events of some types, or of all, that are not in `done`, oldest first. A list of one type reads a sixth. */
async function eventsSince(
  since: number,
  types: readonly string[],
  done: ReadonlyMap<string, number>,
  get: (path: string) => Promise<Response>,
): Promise<Listed[]> {
  const events: Listed[] = [];
  const query = `/v1/events?limit=100&since=${new Date(since).toISOString()}`;
  for (const filter of types.length > 0 ? types.map((type) => `&type=${type}`) : ['']) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = (await (await get(query + filter + (cursor && `&cursor=${cursor}`))).json()) as {
        data: Listed[];
        next_cursor: string | null;
      };
      events.push(...page.data.filter(({ id }) => !done.has(id)));
      cursor = page.next_cursor;
    }
  }
  return events.sort((a, b) => (a.id < b.id ? -1 : 1));
}

async function forward(
  { forwardTo, secret }: Pick<Listening, 'forwardTo' | 'secret'>,
  { id, type, body }: { id: string; type: string; body: string },
): Promise<string> {
  const startedAt = performance.now();
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Event-Id': id,
    'X-Service-Event-Type': type,
    'X-Service-Attempt': '1',
    ...signatureHeaders({ secret, id, timestampSeconds: Math.floor(Date.now() / 1000), body }),
  };
  if (forwardTo === undefined) {
    return readDelivery(secret, Object.fromEntries(new Headers(headers)), body).line;
  }
  try {
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    const response = await fetch(forwardTo, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return `${type}  → ${response.status}  ${Math.round(performance.now() - startedAt)} ms`;
  } catch (error) {
    const { cause, message } = error as Error;
    return `${type}  → ${cause instanceof Error ? cause.message : message}`;
  }
}

const USAGE = {
  command: 'npm run listen',
  about:
    'Polls for new events once per second and forwards them to a URL on this machine, signed with a secret. Press Ctrl-C to stop.',
  options: {
    ...TARGET_OPTIONS,
    'forward-to': {
      type: 'string',
      value: 'URL',
      about: 'URL on this machine. Without it, the command verifies and prints the events',
    },
    events: {
      type: 'string',
      value: 'TYPE,TYPE',
      about: 'event types to forward. The default is all types',
      default: '',
    },
    secret: {
      type: 'string',
      value: 'SECRET',
      about: 'signing secret, as of a webhook. The default is a new secret, which the command prints',
    },
  },
} as const;

export const listen = command(USAGE, async ({ values }) => {
  const { 'forward-to': forwardTo, secret = generateSecret(randomBytes) } = values;
  const { issues } = v.safeParse(Secret, secret);
  if (issues) throw new UserError(`--secret ${issues[0].message}.`);
  const types = values.events.split(',').filter(Boolean);
  for (const type of types) requireEventType(type);
  if (forwardTo !== undefined) requireUrl('forward-to', forwardTo);
  const { baseUrl, key } = targetOf(values, 'live');
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const print = (line: string) => void process.stdout.write(`${visible(line)}\n`);
  await forwardEvents({ baseUrl, key, forwardTo, types, secret, signal: stop.signal, print });
});

if (import.meta.main) await runCommand(listen);
