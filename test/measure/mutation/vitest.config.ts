import { defineConfig } from 'vitest/config';

/** The tests of the rooms that decide, which need no database, and schedules of the simulation that are always the same. */
export default defineConfig({
  test: {
    include: ['test/{unit/{access,delivery,documents,events,webhooks},measure/mutation}/**/*.test.ts'],
    env: {
      TABLE_NAME: 'unused',
      SHARE_PREFIX: 'unused',
      POWERTOOLS_LOG_LEVEL: 'SILENT',
      POWERTOOLS_METRICS_DISABLED: 'true',
    },
    testTimeout: 60_000,
  },
});
