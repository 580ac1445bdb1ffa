import { text } from 'node:stream/consumers';
import { listening } from './http.ts';

/** The other endpoints, and when they stop responding. */
export interface Others {
  count: number;
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
    const { timestamp } = JSON.parse(await text(request));
    response.writeHead(200).end();
    const at = Date.parse(timestamp);
    latencies.push({ at, ms: Date.now() - at });
  });

const otherEndpoint = ({ changesAt }: Others) =>
  listening((request, response) => {
    request.resume();
    if (Date.now() < changesAt) response.writeHead(200).end();
  });

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
