import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runbookOf } from '../../infra/runbook.ts';
import { metricMath } from '../support/cloudwatch/metric-math.ts';
import { idIn, mappingsOf, resourcesOf } from './resources.ts';
import { synth } from './synth.ts';

const template = synth({});
const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(([, properties]) => properties);

interface Query {
  MetricStat?: { Metric: { MetricName: string; Dimensions: { Value: { Ref: string } }[] } };
}

// `test/stack/flows/alarms.test.ts` fires each of them for its cause.
describe('an alarm', () => {
  it('links to a section of the runbook in the repository of the checkout, whose contents list every section', () => {
    const { stdout } = spawnSync('git', ['remote', 'get-url', 'origin'], { encoding: 'utf8' });
    const url = runbookOf(stdout.trim());
    const runbook = readFileSync('infra/RUNBOOK.md', 'utf8');
    const headings = [...runbook.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
    const sections = headings.map((heading) => heading.toLowerCase().replaceAll(' ', '-'));
    const [contents = ''] = runbook.split('\n## ');
    for (const [i, heading] of headings.entries()) expect(contents).toContain(`[${heading}](#${sections[i]})`);
    for (const { AlarmDescription } of alarms) {
      const [, section] = /infra\/RUNBOOK\.md#([\w-]+)$/.exec(AlarmDescription) ?? [];
      expect(sections).toContain(section);
      expect(AlarmDescription).toContain(` ${url}#`);
    }
  });

  it.each([
    ['https://github.com/acme/sync.git', 'https://github.com/acme/sync/blob/HEAD/infra/RUNBOOK.md'],
    ['https://user:token@github.com/acme/sync/', 'https://github.com/acme/sync/blob/HEAD/infra/RUNBOOK.md'],
    ['https://a@acme.com:token@github.com/acme/sync', 'https://github.com/acme/sync/blob/HEAD/infra/RUNBOOK.md'],
    ['https://git.example.com:8443/acme/sync', 'https://git.example.com:8443/acme/sync/blob/HEAD/infra/RUNBOOK.md'],
    ['git@gitlab.com:acme/team/sync.git', 'https://gitlab.com/acme/team/sync/blob/HEAD/infra/RUNBOOK.md'],
    ['ssh://git@git.example.com:2222/acme/sync.git', 'https://git.example.com/acme/sync/blob/HEAD/infra/RUNBOOK.md'],
    ['/srv/git/sync.git', 'infra/RUNBOOK.md'],
    ['file:///srv/git/sync.git', 'infra/RUNBOOK.md'],
    ['', 'infra/RUNBOOK.md'],
  ])('of a clone of %s links to %s', (remote, url) => {
    expect(runbookOf(remote)).toBe(url);
  });

  it('names the file in the checkout on a machine without git', () => {
    const script = "import('./infra/runbook.ts').then(({ RUNBOOK }) => console.log(RUNBOOK))";
    const { stdout } = spawnSync(process.execPath, ['-e', script], { env: { PATH: '' }, encoding: 'utf8' });
    expect(stdout).toBe('infra/RUNBOOK.md\n');
  });

  it.each([
    ['HandlingFailures', { failures: 3, attempts: 57 }, { failures: 3, attempts: 56 }],
    ['HandlingFailures', { failures: 2, attempts: undefined }, { failures: 3, attempts: undefined }],
    ['HandlingFailures', { failures: 500, attempts: 9500 }, { failures: 500, attempts: 9499 }],
    ['WorkerErrors', { e0: 3, i0: 60 }, { e0: 3, i0: 59 }],
    ['WorkerErrors', { e0: 1, e4: 1, i0: 1, i4: 1 }, { e0: 1, e4: 2, i0: 1, i4: 2 }],
    ['WorkerErrors', { e0: 500, i0: 5000, i1: 5000 }, { e0: 501, i0: 5000, i1: 5000 }],
  ])('watches a share of at least three failures: %s fires not with %j, but with %j', (name, quiet, firing) => {
    const alarmsById = resourcesOf(template, 'AWS::CloudWatch::Alarm');
    const [, { Threshold, Metrics } = {}] = alarmsById.find(([id]) => id.includes(name)) ?? [];
    const { Expression } = Metrics.find((metric: object) => 'Expression' in metric);
    const ids = Metrics.filter((metric: object) => !('Expression' in metric)).map(({ Id }: { Id: string }) => Id);
    const share = metricMath(Expression, ids);
    expect(Threshold).toBe(5);
    expect(share(quiet)).toBeLessThanOrEqual(5);
    expect(share(firing)).toBeGreaterThan(5);
  });

  it.each([
    ['ServerErrors', 1, 'For {minutes} minutes, the API returned 5xx more than {limit} times per {period}'],
    ['StatsAge', 1 / 60_000, '`GET /v1/stats` is more than {limit} minutes late'],
    ['FanOutStopped', 1, 'For {minutes} minutes or more, Lambda did not poll the stream'],
    ['HandlingFailures', 1, 'For {minutes} minutes, more than {limit} % of the work'],
    ['Latency', 1 / 1000, 'For {minutes} minutes, 1 % of the requests took longer than {limit} seconds'],
    ['FailedShare', 1, 'More than {limit} % of the attempts failed for {minutes} minutes'],
    ['DisabledWebhooks', 1, 'disabled more than {limit} webhooks in an {period}'],
    ['TableThrottles', 1, 'For {minutes} minutes, DynamoDB throttled more than {limit} reads or writes per {period}'],
    ['WorkerErrors', 1, 'For {minutes} minutes, more than {limit} % of the Lambda invocations from queues'],
    ['EmailBounceRate', 100, 'More than {limit} % of the emails of the account bounced'],
    ['EmailComplaintRate', 100, 'more than {limit} % of them as spam'],
  ])('fires when the runbook says: %s', (name, perUnit, text) => {
    const found = resourcesOf(template, 'AWS::CloudWatch::Alarm').filter(([id]) =>
      id.startsWith(`Observability${name}`),
    );
    expect(found).toHaveLength(1);
    const [, { Threshold, EvaluationPeriods, Period, Metrics = [] } = {}] = found[0] ?? [];
    const seconds =
      Period ??
      Metrics.flatMap((each: Partial<Record<string, { Period: number }>>) => each.MetricStat?.Period ?? [])[0];
    const stated = text
      .replace('{limit}', `${Threshold * perUnit}`)
      .replace('{period}', seconds === 3600 ? 'hour' : 'minute')
      .replace('{minutes}', `${(seconds * EvaluationPeriods) / 60}`);
    expect(readFileSync('infra/RUNBOOK.md', 'utf8').replace(/\s+/g, ' ')).toContain(stated);
  });

  it('has at most ten metrics in its expression (CloudWatch quotas)', () => {
    const counts = alarms.map(({ Metrics = [] }) => Metrics.filter(({ MetricStat }: Query) => MetricStat).length);
    expect(Math.max(...counts)).toBeGreaterThan(1);
    expect(counts.filter((count) => count > 10)).toEqual([]);
  });

  it('watches the throttles of every function that no caller waits for', () => {
    const metrics: Query[] = alarms.flatMap(({ Metrics = [] }) => Metrics);
    const throttles = metrics.filter(({ MetricStat }) => MetricStat?.Metric.MetricName === 'Throttles');
    const watched = throttles.map(({ MetricStat }) => idIn(MetricStat?.Metric.Dimensions[0]?.Value));
    const functions = mappingsOf(template).map(({ mapping }) => idIn(mapping.FunctionName));
    expect(watched.sort()).toEqual(functions.sort());
  });
});
