import { defineConfig } from 'vitest/config';
import { LONG } from '../../../vitest.config.ts';
import { VARIABLES } from '../../support/runtime.ts';

/** The tests of the rules and the stores, which need no database, and fixed schedules of the simulation. */
export default defineConfig({
  test: {
    include: [
      'test/unit/{aws,client,deliveries,documents,events,handlers,http,keys,projects,promises,webhooks}/**/*.test.ts',
      'test/{memory/contracts,measure/mutation}/**/*.test.ts',
    ],
    // `storable` needs a database.
    exclude: ['**/node_modules/**', 'test/memory/contracts/storable.test.ts', ...LONG],
    env: {
      ...VARIABLES,
      POWERTOOLS_LOG_LEVEL: 'SILENT',
      POWERTOOLS_METRICS_DISABLED: 'true',
    },
    testTimeout: 60_000,
  },
});
