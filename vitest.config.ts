import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compileCache } from './infra/project-root.ts';
import { VARIABLES } from './test/support/runtime.ts';

/** Slow tests. Run them with `npm run test:long`. */
export const LONG = [
  'test/stack/long/**/*.test.ts',
  'test/stack/flows/{alarms,content,runbook}.test.ts',
  'test/stack/local/{kept,sam}.test.ts',
  'test/memory/simulation/planted-bugs.test.ts',
  'test/unit/api/limits.test.ts',
  'test/unit/site/docs/{deployments,receivers,replica,snippets}.test.ts',
];

/** Slow files. They start first, so that a worker does not run one of them alone at the end. */
const EARLY = /\/(flows|upgrades)\/|\/planted-bugs|\/long\/smoke|\/api\/limits/;
/** Files with long histories. They start last, because `replay.ts` repeats only commands that are new to a worker. */
const LATE =
  /\/simulation\/simulation|\/grants|\/handlers\/(lists|emails|engines|deliveries|projects|content|sync-replicas)/;

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => Number(LATE.test(moduleId)) - Number(EARLY.test(moduleId));
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

process.env.NODE_COMPILE_CACHE ??= compileCache; // of the workers, and of the commands that tests start
/** Node.js loads the modules, without a transformation by Vite. */
export const NATIVE_MODULES = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  execArgv: ['--import', fileURLToPath(new URL('test/support/module-hooks.ts', import.meta.url))],
};

export default defineConfig({
  test: {
    ...NATIVE_MODULES,
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/browser/**', 'test/cloud/**', 'test/measure/mutation/**', ...LONG],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/setup.ts',
    isolate: false, // keeps loaded modules between files
    sequence: { sequencer: InOrder },
    maxWorkers: 2, // each worker loads the CDK and starts its own stacks
    env: {
      ...VARIABLES,
      POWERTOOLS_LOG_LEVEL: 'SILENT',
      POWERTOOLS_METRICS_DISABLED: 'true',
    },
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
