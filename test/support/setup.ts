import { afterAll } from 'vitest';
import { stopAll } from './after-file.ts';
import { replayRecorded } from './replay.ts';

afterAll(stopAll);
afterAll(replayRecorded);
