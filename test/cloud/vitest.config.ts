import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { NATIVE_MODULES } from '../../vitest.config.ts';

/** The tests with an emulator of AWS that this project did not write: `npm run test:cloud`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    ...NATIVE_MODULES,
    include: ['test/cloud/**/*.test.ts'],
    setupFiles: 'test/cloud/setup.ts',
    maxWorkers: 2,
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
});
