import { expect, it, vi } from 'vitest';

it('counts an attempt once, in the run that recorded it', async () => {
  vi.stubEnv('POWERTOOLS_DEV', 'true'); // writes metrics to the console
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'Test');
  vi.resetModules(); // another file may have imported it with other settings
  const { laneFunction, responds, retrying } = await import('../deliveries/lane.ts');
  const { message } = await import('../deliveries/builders.ts');
  const lines: string[] = [];
  const write = vi.spyOn(console, 'log').mockImplementation((text) => void lines.push(String(text)));
  const own = await laneFunction();
  own.answer = responds(500);
  await own.run(message());
  own.answer = async (...args) => {
    await own.record(2, retrying);
    return responds(500)(...args);
  };
  await own.run(message({ attempt: 2 }), message({ eventId: 'evt_gone' }));
  write.mockRestore();
  vi.unstubAllEnvs();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ Latency: 10, Failures: 1 }]);
});
