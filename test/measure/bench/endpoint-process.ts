import { fork } from 'node:child_process';
import { once } from 'node:events';

/** An endpoint in a separate process. */
export async function startEndpoint() {
  const child = fork(new URL('./endpoint.ts', import.meta.url));
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    /** Returns the number of handled requests. */
    async received(): Promise<number> {
      child.send('received');
      const [count] = (await once(child, 'message')) as [number];
      return count;
    },
    stop: () => child.disconnect(),
  };
}
