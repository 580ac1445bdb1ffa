import { defineConfig } from 'vitest/config';

/** The tests of the rules, which need no database, and fixed schedules of the simulation. */
export default defineConfig({
  test: {
    include: [
      'test/{unit/{deliveries,documents,events,handlers,keys,projects,webhooks},measure/mutation}/**/*.test.ts',
    ],
    env: {
      TABLE_NAME: 'unused',
      SHARE_PREFIX: 'unused',
      POWERTOOLS_LOG_LEVEL: 'SILENT',
      POWERTOOLS_METRICS_DISABLED: 'true',
    },
    testTimeout: 60_000,
  },
});
