import { createRequire } from 'node:module';

export interface Invocation {
  path: string;
  event: object;
}
export interface Invoked {
  wallMs: number;
  cpuMs: number;
  failures: number;
}

// A process that runs bundles. It answers each invocation with its duration and the number of failed records.
const require = createRequire(import.meta.url);
process.on('message', async ({ path, event }: Invocation) => {
  const { handler } = require(path);
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  const response = await handler(event, {});
  const { user, system } = process.cpuUsage(before);
  const failures = response?.batchItemFailures?.length ?? 0;
  process.send?.({ wallMs: performance.now() - startedAt, cpuMs: (user + system) / 1000, failures } satisfies Invoked);
});
