import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { NATIVE_MODULES } from '../../vitest.config.ts';

/** The tests that need a browser: `npm run test:browser`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    ...NATIVE_MODULES,
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/browser/require-browser.ts'],
    setupFiles: 'test/support/setup.ts',
    env: { TZ: 'Pacific/Chatham' }, // the browser inherits it. A local time that is sent as UTC is then in the future
    isolate: false, // the files of a worker share its stacks
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
