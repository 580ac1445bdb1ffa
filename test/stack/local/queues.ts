import { LocalQueue } from '../../../infra/local/services/sqs.ts';

type Settings = ConstructorParameters<typeof LocalQueue>[0];

/** A queue whose failed messages become visible after a millisecond. */
export const createQueue = (settings: Partial<Settings> = {}): LocalQueue =>
  new LocalQueue({
    name: 'queue',
    arn: 'arn:aws:sqs:::queue',
    visibilityTimeoutSeconds: 1,
    speed: 1,
    visibilitySpeed: 1000,
    kept: new Map(),
    ...settings,
  });
