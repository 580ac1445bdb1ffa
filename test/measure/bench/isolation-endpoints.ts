import type http from 'node:http';
import { listening, textOf } from './http.ts';

/** What the other endpoints do after they responded for a while. Those that never respond have not responded before either. */
export type Behaviour = 'respond' | 'never respond' | 'stop responding' | 'alternate' | 'trickle';

const ALTERNATES_EVERY_MS = 3000;

/** The endpoints that change, the time of the change, and what they do then. */
export interface Others {
  count: number;
  behaviour: Behaviour;
  changesAt: number;
}

/** The time from publication to receipt at a healthy endpoint. */
export interface Latency {
  /** When the event was published. */
  at: number;
  ms: number;
}

// Endpoints in a separate process, whose work would otherwise delay the local stack. Sends their URLs to its parent, the healthy one
// first, and later the latencies since the last message.
let latencies: Latency[] = [];

const healthyEndpoint = () =>
  listening(async (request, response) => {
    const { timestamp } = JSON.parse(await textOf(request));
    response.writeHead(200).end();
    const at = Date.parse(timestamp);
    latencies.push({ at, ms: Date.now() - at });
  });

const otherEndpoint = ({ behaviour, changesAt }: Others) =>
  listening((request, response) => {
    request.resume();
    const sinceMs = Date.now() - changesAt;
    if (behaviour === 'respond' || (sinceMs < 0 && behaviour !== 'never respond')) return respond(response);
    if (behaviour === 'trickle') return trickle(response);
    if (behaviour === 'alternate' && Math.floor(sinceMs / ALTERNATES_EVERY_MS) % 2 === 1) return respond(response);
  });

const respond = (response: http.ServerResponse) => response.writeHead(200).end();

function trickle(response: http.ServerResponse): void {
  response.writeHead(200, { 'Content-Length': '100' });
  const timer = setInterval(() => response.write('x'), 1000);
  response.on('close', () => clearInterval(timer));
}

process.on('message', async (message: Others | 'latencies') => {
  if (message === 'latencies') {
    process.send?.(latencies);
    latencies = [];
    return;
  }
  const others = Array.from({ length: message.count }, () => otherEndpoint(message));
  const endpoints = await Promise.all([healthyEndpoint(), ...others]);
  process.send?.(endpoints.map(({ url }) => url));
});
process.on('disconnect', () => process.exit(0));
