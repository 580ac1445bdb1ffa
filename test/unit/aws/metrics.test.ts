import { expect, it, vi } from 'vitest';
import type { DeliverResult } from '../../../lib/deliveries/deliver.ts';
import { attempt } from '../delivery/builders.ts';

it('counts an attempt once, in the run that recorded it', async () => {
  vi.stubEnv('POWERTOOLS_DEV', 'true'); // writes metrics to the console
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'Test');
  vi.resetModules(); // another file may have imported it with other settings
  const { countAttempt, publishMetrics } = await import('../../../lib/aws/log.ts');
  const lines: string[] = [];
  const write = vi.spyOn(console, 'log').mockImplementation((text) => void lines.push(String(text)));
  const made = { attempt: attempt({ durationMs: 7 }), verdict: { status: 'failed' }, disabled: false } as const;
  const results: DeliverResult[] = [
    { ...made, task: 'send', isRecorded: true },
    { ...made, task: 'wait', isRecorded: false },
    { task: 'drop' },
  ];
  for (const result of results) countAttempt(result);
  publishMetrics();
  write.mockRestore();
  vi.unstubAllEnvs();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ Latency: 7, Failures: 1 }]);
});
