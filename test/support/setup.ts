import { afterAll } from 'vitest';
import { stopAll } from './after-file.ts';

afterAll(stopAll);
