import { afterAll } from 'vitest';
import { stopAll } from '../support/after-file.ts';

afterAll(stopAll);
