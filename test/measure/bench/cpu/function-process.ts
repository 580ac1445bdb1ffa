import { createRequire } from 'node:module';

export interface Invocation {
  path: string;
  event: object;
}
export interface Invoked {
  wallMs: number;
  cpuMs: number;
  failures: number;
  /** The body of a response of the API. */
  body?: string;
}

// A process that runs bundles. It answers each invocation with its duration and the number of failed records.
const require = createRequire(import.meta.url);
process.on('message', async ({ path, event }: Invocation) => {
  const { handler } = require(path);
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  const response = await handler(event, {});
  const { user, system } = process.cpuUsage(before);
  const failures = response?.batchItemFailures?.length ?? 0;
  const [wallMs, cpuMs] = [performance.now() - startedAt, (user + system) / 1000];
  process.send?.({ wallMs, cpuMs, failures, body: response?.body } satisfies Invoked);
});
