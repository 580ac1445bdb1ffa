import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { idIn, resourcesOf } from './resources.ts';
import { everyOption, synth } from './synth.ts';

const runbook = readFileSync('infra/RUNBOOK.md', 'utf8');

// `test/stack/flows/runbook.test.ts` runs the commands of this project.
it('the runbook names only log lines and settings that exist', () => {
  const names = [...runbook.matchAll(/`([a-z]\w*\.[a-z]\w*)`/gi)].map(([, name = '']) => name);
  const code = ['lib', 'infra'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
  );
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !code.some((text) => text.includes(name)))).toEqual([]);
});

it('the runbook finds resources by their logical ids, and names alarms by a part of theirs', () => {
  const ids = Object.keys(synth(everyOption).toJSON().Resources);
  const found = (pattern: RegExp) => [...runbook.matchAll(pattern)].map(([, name = '']) => name);
  const exact = [...found(/\$\(of (\w+)\)/g), ...found(/\b(\w+(?:Source|Logs))\b/g)];
  const alarms = found(/\(`([A-Z]\w+)`\)/g);
  expect([exact.length > 20, alarms.length > 5]).toEqual([true, true]);
  expect(exact.filter((name) => !ids.includes(name))).toEqual([]);
  expect(alarms.filter((name) => !ids.some((id) => id.includes(name)))).toEqual([]);
});

it('the runbook names the log group of every function whose errors an alarm watches', () => {
  const template = synth(everyOption);
  const functions = Object.fromEntries(resourcesOf(template, 'AWS::Lambda::Function'));
  const [, section = ''] = /\n## Function errors\n([\s\S]*?)\n## /.exec(runbook) ?? [];
  const [[, { Metrics }] = ['', {}]] = resourcesOf(template, 'AWS::CloudWatch::Alarm').filter(([id]) =>
    id.includes('WorkerErrors'),
  );
  const watched = Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: { Dimensions: { Value: object }[] } } }) =>
    MetricStat ? [idIn(functions[idIn(MetricStat.Metric.Dimensions[0]?.Value)]?.LoggingConfig.LogGroup)] : [],
  );
  expect(watched).toContain('DeliverLogs');
  for (const logs of watched) expect(section).toContain(`\`${logs.replace(/Logs$/, '')}\``);
});

// Otherwise zsh, the shell of macOS, reports "no matches found".
it.each(['README.md', 'infra/README.md', 'infra/RUNBOOK.md'])('%s quotes the brackets in commands', (path) => {
  const text = readFileSync(path, 'utf8');
  const commands = [...text.matchAll(/```sh\n([\s\S]*?)```|`((?:aws|npm|npx) [^`]+)`/g)].map(([code]) => code);
  expect(commands.length).toBeGreaterThan(2);
  expect(commands.filter((code) => /[[\]*?]/.test(code.replace(/'[^']*'|"[^"]*"/g, '')))).toEqual([]);
});
