import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { ATTEMPT_TIMEOUT_MS, derivedHeaders, withOrdinary } from '../../lib/deliveries/attempt.ts';
import type { EventType } from '../../lib/events/types.ts';
import { visible } from '../../lib/printable.ts';
import { generateSecret, Secret, signatureHeaders } from '../../lib/webhooks/signing.ts';
import { UserError } from '../user-error.ts';
import { command } from './command.ts';
import { readDelivery } from './received.ts';
import { reasonOf, request, requireEventType, requireUrl, TARGET_OPTIONS, type Target, targetOf } from './target.ts';

const POLL_INTERVAL_MS = 1000;
/** An event can appear after one with a later timestamp, because clocks differ and transactions take time. */
const OVERLAP_MS = 30_000;
/** Every tenth poll reads the whole overlap. The others stop at the first page without a new event. */
const POLLS_PER_OVERLAP = 10;

interface Listed {
  id: string;
  type: EventType;
  timestamp: string;
  /** The text of the event, which has the same bytes in deliveries. */
  body: string;
}

/**
 * Forwards every new event to a URL on this machine, with the signature of a webhook, and prints the response. Without a URL, it
 * verifies and prints the event. Each event has one attempt, in order from the oldest. Nothing in the service changes.
 */
export const listen = command(
  {
    command: 'listen',
    about: `Forwards new events to a URL on this machine, signed with a secret, or prints them.
It polls once per second. Press Ctrl-C to stop.`,
    options: {
      ...TARGET_OPTIONS,
      'forward-to': { type: 'string', value: 'URL', about: 'URL on this machine (verifies and prints the events)' },
      events: { type: 'string', value: 'TYPE,TYPE', default: '', about: 'event types to forward (all)' },
      secret: {
        type: 'string',
        value: 'SECRET',
        about: 'signing secret, as of a webhook (a new one, which it prints)',
      },
    },
  },
  async ({ values }, { print, variables, wait }) => {
    const { 'forward-to': forwardTo, secret = generateSecret(randomBytes) } = values;
    const { issues } = v.safeParse(Secret, secret);
    if (issues) throw new UserError(`--secret ${issues[0].message}.`);
    const types = [...new Set(values.events.split(',').filter(Boolean).map(requireEventType))];
    if (forwardTo !== undefined) requireUrl('forward-to', forwardTo);
    const target = targetOf(values, 'live', variables);
    process.once('SIGINT', () => process.exit(0));
    const printLine = (line: string) => print(`${visible(line)}\n`);

    const first = await request(target, 'GET', '/v1/webhooks?limit=1'); // checks the key, with fewer reads than a list of events
    printLine(`${forwardTo === undefined ? 'Showing events' : `Forwarding to ${forwardTo}`}, signed with ${secret}`);
    let since = Date.parse(first.headers.get('date') ?? '') || Date.now(); // the clock of the service
    /** The times of the events that were already forwarded, by id. */
    const done = new Map<string, number>();
    let lastProblem = '';
    for (let polls = 0; ; polls++) {
      try {
        const isThorough = polls % POLLS_PER_OVERLAP === 0;
        for (const event of await newEvents(target, since, types, done, isThorough)) {
          done.set(event.id, Date.parse(event.timestamp));
          printLine(`${event.timestamp}  ${event.id}  ${await forward(event, secret, forwardTo)}`);
        }
        since = Math.max(since, ...[...done.values()].map((at) => at - OVERLAP_MS));
        for (const [id, at] of done) if (at < since) done.delete(id);
        if (lastProblem !== '') printLine('Polling works again.');
        lastProblem = '';
      } catch (error) {
        const { message } = error as Error;
        if (message !== lastProblem) printLine(`Polling failed, trying again: ${message}`);
        lastProblem = message;
      }
      await wait(POLL_INTERVAL_MS);
    }
  },
);

/** Returns the events that were not forwarded yet, oldest first. The API lists the newest first. A list of one type reads a sixth. */
async function newEvents(
  target: Target,
  since: number,
  types: readonly string[],
  done: ReadonlyMap<string, number>,
  isThorough: boolean,
): Promise<Listed[]> {
  const events: Listed[] = [];
  const query = `/v1/events?limit=100&since=${new Date(since).toISOString()}`;
  for (const filter of types.length > 0 ? types.map((type) => `&type=${type}`) : ['']) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const text = await (await request(target, 'GET', query + filter + (cursor && `&cursor=${cursor}`))).text();
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

async function forward({ id, type, body }: Listed, secret: string, forwardTo: string | undefined): Promise<string> {
  const startedAt = performance.now();
  const at = Date.now();
  const headers = withOrdinary({
    ...derivedHeaders({ eventId: id, eventType: type }, { number: 1, at }),
    ...signatureHeaders({ secret, id, timestampSeconds: Math.floor(at / 1000), body }),
  });
  if (forwardTo === undefined)
    return readDelivery(secret, Object.fromEntries(new Headers(headers)), Buffer.from(body)).line;
  try {
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    const response = await fetch(forwardTo, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return `${type}  → ${response.status}  ${Math.round(performance.now() - startedAt)} ms`;
  } catch (error) {
    return `${type}  → ${reasonOf(error as Error)}`;
  }
}
