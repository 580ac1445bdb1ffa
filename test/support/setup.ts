import { afterAll } from 'vitest';
import { stopAll } from './after-file.ts';
import { reportRequests } from './request-count.ts';

afterAll(stopAll);
afterAll(reportRequests);
