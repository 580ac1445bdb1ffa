import { afterAll } from 'vitest';
import { stopAll } from './after-file.ts';
import { IS_REPLAYED, replayRecorded } from './replay.ts';

afterAll(stopAll);
if (IS_REPLAYED) afterAll(replayRecorded);
