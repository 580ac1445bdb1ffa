import { LocalQueue } from '../../../infra/local/services/sqs.ts';
import { afterFile } from '../../support/after-file.ts';

type Settings = ConstructorParameters<typeof LocalQueue>[0];

/** A queue whose failed messages become visible after a millisecond. */
export function createQueue(settings: Partial<Settings> = {}): LocalQueue {
  const queue = new LocalQueue({
    name: 'queue',
    arn: 'arn:aws:sqs:::queue',
    visibilityTimeoutSeconds: 1,
    speed: 1,
    visibilitySpeed: 1000,
    now: () => Date.now(),
    kept: new Map(),
    ...settings,
  });
  afterFile(() => queue.stop());
  return queue;
}
