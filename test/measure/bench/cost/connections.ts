import { startMetered } from './metered.ts';
import { scaled, sumOf, type Usage } from './usage.ts';

/** The default lease of a connection, and the time of its renewal. */
const LEASE_SECONDS = 300;
const RENEWED_EVERY_SECONDS = 240;
const MONTH_SECONDS = 30 * 24 * 60 * 60;
/** The number of samples of each kind for the mean. */
const COUNT = 20;

/** Measures the usage of a connection that is open for a month, with its renewals and checks. */
export async function usageOfConnection(assembly: string): Promise<Usage> {
  const { stack, meter, projectId, send, stop } = await startMetered(assembly, 1);
  const renew = () => send('PUT', '/v1/connections/bench', { node_id: 'bench' });
  const checks = stack.queues.get('Checks');
  if (!checks) throw new Error('There is no queue of checks');
  await renew();
  meter.take();
  for (let i = 0; i < COUNT; i++) await renew();
  const renewal = scaled(meter.take(), 1 / COUNT);
  // Of 10,000 leases, 33 end every second, which fill the batches of five pollers within the batching window.
  for (let i = 0; i < COUNT; i++)
    checks.send(JSON.stringify({ connectionId: 'bench', projectId, environment: 'live' }));
  while (checks.counts().visible + checks.counts().inFlight > 0) await new Promise((done) => setTimeout(done, 50));
  const check = scaled(meter.take(), 1 / COUNT);
  await stop();
  return sumOf(scaled(renewal, MONTH_SECONDS / RENEWED_EVERY_SECONDS), scaled(check, MONTH_SECONDS / LEASE_SECONDS));
}
