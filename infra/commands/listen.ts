import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import * as v from 'valibot';
import { ATTEMPT_TIMEOUT_MS } from '../../lib/deliveries/attempt.ts';
import type { EventType } from '../../lib/events/types.ts';
import { visible } from '../../lib/printable.ts';
import { generateSecret, Secret, signatureHeaders } from '../../lib/webhooks/signing.ts';
import { UserError } from '../user-error.ts';
import { command } from './command.ts';
import { readDelivery } from './received.ts';
import { RequestError, request, requireEventType, requireUrl, TARGET_OPTIONS, targetOf } from './target.ts';

const POLL_INTERVAL_MS = 1000;
/** An event can appear after one with a later timestamp, because clocks differ and transactions take time. */
const OVERLAP_MS = 30_000;
/** Every tenth poll reads the whole overlap. The others stop at the first page without a new event. */
const POLLS_PER_OVERLAP = 10;

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
  /** The text of the event, which has the same bytes in deliveries. */
  body: string;
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
  for (let polls = 0; !signal.aborted; polls++) {
    try {
      const isThorough = polls % POLLS_PER_OVERLAP === 0;
      for (const event of await newEvents({ since, types, done, isThorough }, get)) {
        done.set(event.id, Date.parse(event.timestamp));
        print(`${event.timestamp}  ${event.id}  ${await forward(options, event)}`);
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

interface Poll {
  since: number;
  /** The event types to list. An empty list means all types. A list of one type reads a sixth. */
  types: readonly string[];
  /** The events that were already forwarded, by id. */
  done: ReadonlyMap<string, number>;
  isThorough: boolean;
}

/** Returns the events that were not forwarded yet, oldest first. The API lists the newest first. */
async function newEvents(
  { since, types, done, isThorough }: Poll,
  get: (path: string) => Promise<Response>,
): Promise<Listed[]> {
  const events: Listed[] = [];
  const query = `/v1/events?limit=100&since=${new Date(since).toISOString()}`;
  for (const filter of types.length > 0 ? types.map((type) => `&type=${type}`) : ['']) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const text = await (await get(query + filter + (cursor && `&cursor=${cursor}`))).text();
      const { data, next_cursor }: { data: Listed[]; next_cursor: string | null } = JSON.parse(text);
      const bodies = elementsOf(text);
      const added = data.map((event, i) => ({ ...event, body: bodies[i] ?? '' })).filter(({ id }) => !done.has(id));
      events.push(...added);
      cursor = added.length > 0 || isThorough ? next_cursor : null;
    }
  }
  return events.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The texts of the objects in the list of a page. Parsing would change numbers that a double cannot represent. */
export function elementsOf(page: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of page.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if ((token === '{' || token === '[') && ++depth === 3) start = index;
    if ((token === '}' || token === ']') && --depth === 2) elements.push(page.slice(start, index + 1));
  }
  return elements;
}

async function forward(
  { forwardTo, secret }: Pick<Listening, 'forwardTo' | 'secret'>,
  { id, type, body }: Pick<Listed, 'id' | 'type' | 'body'>,
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
    return readDelivery(secret, Object.fromEntries(new Headers(headers)), Buffer.from(body)).line;
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
  command: 'npm run dev -- listen',
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

export const listen = command(USAGE, async ({ values }, { print, variables }) => {
  const { 'forward-to': forwardTo, secret = generateSecret(randomBytes) } = values;
  const { issues } = v.safeParse(Secret, secret);
  if (issues) throw new UserError(`--secret ${issues[0].message}.`);
  const types = values.events.split(',').filter(Boolean);
  for (const type of types) requireEventType(type);
  if (forwardTo !== undefined) requireUrl('forward-to', forwardTo);
  const { baseUrl, key } = targetOf(values, 'live', variables);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const printLine = (line: string) => print(`${visible(line)}\n`);
  await forwardEvents({ baseUrl, key, forwardTo, types, secret, signal: stop.signal, print: printLine });
});
