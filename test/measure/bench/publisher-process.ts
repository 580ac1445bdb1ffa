import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Publication } from './publisher.ts';

/** A publisher in a separate process. */
export async function startPublisher() {
  const child = fork(new URL('./publisher.ts', import.meta.url));
  await once(child, 'message');
  const ended = once(child, 'exit').then(() => ['all']);
  return {
    /** Publishes events, and resolves when every request has its response. Throws if one fails. */
    async publish(publication: Publication): Promise<void> {
      child.send(publication);
      const [failures] = await Promise.race([once(child, 'message'), ended]);
      if (failures !== 0) throw new Error(`${failures} requests failed`);
    },
    stop: () => child.disconnect(),
  };
}
