import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { METRICS_SERVICE } from '../../../lib/deployment.ts';
import { retrying } from '../../memory/contracts/builders.ts';
import { message } from '../deliveries/builders.ts';

const isNative = import.meta.url.includes('?');
/** Loads a module again, because other files loaded it with other environment variables: in Node.js, or in Vite for mutations. */
async function again(path: string) {
  vi.resetModules();
  return import(isNative ? `${path}?again=${performance.now()}` : path);
}

/** The metrics and lines that were written. */
let written: Record<string, unknown>[] = [];

beforeEach(() => {
  vi.stubEnv('POWERTOOLS_DEV', 'true'); // writes metrics to the console
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'Test');
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'deliver');
  written = [];
  for (const method of ['log', 'warn'] as const)
    vi.spyOn(console, method).mockImplementation((text) => void written.push(JSON.parse(text)));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

it('counts an attempt once, in the run that recorded it', async () => {
  const { laneFunction, responds } = (await again('../deliveries/lane.ts')) as typeof import('../deliveries/lane.ts');
  const own = await laneFunction();
  own.answer = responds(500);
  await own.run(message());
  own.answer = async (...args) => {
    await own.record(2, retrying);
    return responds(500)(...args);
  };
  await own.run(message({ attempt: 2 }), message({ eventId: 'evt_gone' }));
  own.answer = responds(200);
  await own.run(message({ run: 1 }));
  expect(written).toMatchObject([{ Latency: 10, Failures: 1 }, { Latency: 10 }]);
  expect(written[1]).not.toHaveProperty('Failures');
});

it('writes each internal failure, because most functions write no other metrics', async () => {
  const { failureReporter } = await again('../../../lib/aws/log.ts');
  const report = failureReporter({ info() {}, warn() {}, error() {} });
  for (let i = 0; i < 2; i++) report('request.failed', {}, new Error('failed'));
  const failure = { HandlingFailures: 1, service: METRICS_SERVICE }; // the dimension that alarms watch
  expect(written).toMatchObject([failure, failure]);
});

it('writes each event that was set aside', async () => {
  const { countSetAside } = await again('../../../lib/aws/metrics.ts');
  countSetAside();
  expect(written).toMatchObject([{ EventsSetAside: 1 }]);
});

it('writes a line with the fields that the filters of the runbook need', async () => {
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
  const { log } = await again('../../../lib/aws/log.ts');
  const throttled = Object.assign(new Error('Slow down'), { name: 'ThrottlingException' });
  log.warn('summary.failed', { message_id: 'message-1', error: new Error('The call failed', { cause: throttled }) });
  expect(console.warn).toHaveBeenCalledOnce();
  const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
  const line = { level: 'WARN', message: 'summary.failed', timestamp, service: 'deliver', message_id: 'message-1' };
  const cause = expect.objectContaining({ name: 'ThrottlingException', message: 'Slow down' });
  expect(written).toEqual([{ ...line, error: expect.objectContaining({ message: 'The call failed', cause }) }]);
});
