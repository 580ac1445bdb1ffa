import { afterAll } from 'vitest';
import { stopAll } from './after-file.ts';
import { sendRecorded } from './recorded-requests.ts';
import { reportRequests } from './request-count.ts';

afterAll(stopAll);
afterAll(reportRequests);
afterAll(sendRecorded);
