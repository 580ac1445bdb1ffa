import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**'],
    globalSetup: 'test/support/global-setup.ts',
    maxWorkers: 3,
    env: { TABLE_NAME: 'unused', POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' },
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
