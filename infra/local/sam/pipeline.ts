import { setTimeout as sleep } from 'node:timers/promises';
import type { QueueConsumer } from '../lambda/event-sources.ts';
import { FunctionError } from '../lambda/lambda.ts';

/** The interval between two tries to reach `sam local start-lambda`. */
const RETRY_MS = 1000;

/**
 * A function that `sam local start-lambda` runs in a container. An invocation waits until the port is open, as for a starting
 * container.
 */
export function containerFunction(url: string, name: string, role: string): QueueConsumer {
  return {
    role,
    endsChain: () => false, // containers do not propagate trace headers
    async invoke(event) {
      const response = await post(`${url}/2015-03-31/functions/${name}/invocations`, JSON.stringify(event));
      const text = await response.text();
      if (!response.ok || response.headers.has('x-amz-function-error')) throw new FunctionError('Unhandled', text);
      return JSON.parse(text);
    },
  };
}

async function post(url: string, body: string): Promise<Response> {
  for (;;) {
    try {
      return await fetch(url, { method: 'POST', body });
    } catch {
      await sleep(RETRY_MS);
    }
  }
}
