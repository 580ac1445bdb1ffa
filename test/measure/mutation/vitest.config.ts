import { defineConfig } from 'vitest/config';
import { VARIABLES } from '../../support/runtime.ts';

/** The tests of the rules, which need no database, and fixed schedules of the simulation. */
export default defineConfig({
  test: {
    include: [
      'test/{unit/{deliveries,documents,events,handlers,keys,projects,webhooks},measure/mutation}/**/*.test.ts',
      'test/unit/promises/{access,audit,inputs,queues,repeats}.test.ts',
    ],
    env: {
      ...VARIABLES,
      POWERTOOLS_LOG_LEVEL: 'SILENT',
      POWERTOOLS_METRICS_DISABLED: 'true',
    },
    testTimeout: 60_000,
  },
});
