import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../../infra/service.ts';
import { promises } from '../../infra/promises.ts';
import { appProps, choices } from '../../infra/synth.ts';

/** All options of each parameter. */
const everything = Object.values(choices).reduce<number[][]>(
  (all, options) => all.flatMap((one) => options.map((_, option) => [...one, option])),
  [[]],
);
const pairsOf = (combination: number[]): string[] =>
  combination.flatMap((a, i) => combination.slice(i + 1).map((b, j) => [i, a, j, b].join()));

/**
 * Returns few combinations that cover every pair of options of two parameters, because most interactions involve two (NIST SP
 * 800-142).
 */
function covering(): object[] {
  const open = new Set(everything.flatMap(pairsOf));
  const gain = (combination: number[]) => pairsOf(combination).filter((pair) => open.has(pair)).length;
  const chosen: number[][] = [];
  while (open.size > 0) {
    const best = everything.reduce((a, b) => (gain(b) > gain(a) ? b : a));
    for (const pair of pairsOf(best)) open.delete(pair);
    chosen.push(best);
  }
  return chosen.map((combination) =>
    Object.assign({}, ...Object.values(choices).map((options, i) => options[combination[i] ?? 0])),
  );
}
const combinations = covering();

/** Returns the rules of cdk-nag, and the promises of every resource, that the template with these settings violates. */
function violationsOf(settings: object): string[] {
  const app = createApp(appProps(settings));
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const assembly = app.synth();
  const template = Template.fromJSON(assembly.getStackArtifact('DocumentSyncService').template);
  const broken = Object.values(promises).flatMap((brokenBy) => brokenBy(template));
  const { pluginReports } = JSON.parse(readFileSync(join(assembly.directory, 'validation-report.json'), 'utf8'));
  const findings = pluginReports.flatMap(({ violations }: { violations: { ruleName: string }[] }) =>
    violations.map(({ ruleName }) => ruleName),
  );
  return [...broken, ...findings];
}

describe('the template', () => {
  it(
    `keeps every promise and has no cdk-nag findings for any two context parameters together (${combinations.length} combinations)`,
    { timeout: 300_000 },
    () => {
      for (const combination of combinations)
        expect(violationsOf(combination), JSON.stringify(combination)).toEqual([]);
    },
  );
});
