import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** Ignores the text of `described(schema, text)`, which only the API reference shows. */
const descriptions = {
  shouldIgnore({ node, parent }) {
    const isText =
      parent?.type === 'CallExpression' && parent.callee.name === 'described' && parent.arguments[1] === node;
    return isText ? 'A description in the API reference' : undefined;
  },
};
export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'descriptions', descriptions)];

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: [
    'lib/{keys,projects,audit,operators,emails,webhooks,events,deliveries,documents}/**/!(operations|store|*-store|consumers|*-consumers).ts',
  ],
  testRunner: 'vitest',
  vitest: { configFile: 'test/measure/mutation/vitest.config.ts', related: false },
  plugins: ['@stryker-mutator/vitest-runner', import.meta.filename],
  ignorers: ['descriptions'],
  tsconfigFile: '', // not needed, because types are stripped and not compiled
  coverageAnalysis: 'perTest',
  ignoreStatic: true, // each of them would run all tests
  concurrency: 2,
  ignorePatterns: ['.local', 'cdk.out'],
  tempDirName: '.local/mutation',
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { allowColor: false, reportTests: false },
  thresholds: { high: 90, low: 85, break: 85 },
  timeoutMS: 20_000,
};
