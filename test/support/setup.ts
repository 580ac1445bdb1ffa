import { afterAll } from 'vitest';
import { stopAll } from './after-file.ts';
import { replayRecorded } from './replay.ts';
import { reportRequests } from './request-count.ts';

afterAll(stopAll);
afterAll(reportRequests);
afterAll(replayRecorded);
