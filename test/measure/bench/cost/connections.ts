import { startMetered } from './metered.ts';
import { scaled, sumOf, type Usage } from './usage.ts';

/** The lease that a connection gets unless it asks for another, and when a careful client renews it. */
const LEASE_SECONDS = 300;
const RENEWED_EVERY_SECONDS = 240;
const MONTH_SECONDS = 30 * 24 * 60 * 60;
/** Of each kind, to take the mean of. */
const COUNT = 20;

/** What a connection takes that is held open for a month: renewals, and the checks whether it was renewed. */
export async function usageOfConnection(assembly: string): Promise<Usage> {
  const { stack, meter, projectId, send, stop } = await startMetered(assembly, 1);
  const renew = () => send('PUT', '/v1/connections/bench', { node_id: 'bench' });
  const checks = stack.queues.get('Checks');
  if (!checks) throw new Error('There is no queue of checks');
  await renew();
  meter.take();
  for (let i = 0; i < COUNT; i++) await renew();
  const renewal = scaled(meter.take().usage, 1 / COUNT);
  // Of 10,000 leases 33 end every second, which fill the batches of five pollers in the time that they are gathered.
  for (let i = 0; i < COUNT; i++)
    checks.send(JSON.stringify({ connectionId: 'bench', projectId, environment: 'live' }));
  while (checks.counts().visible + checks.counts().inFlight > 0) await new Promise((done) => setTimeout(done, 50));
  const check = scaled(meter.take().usage, 1 / COUNT);
  await stop();
  return sumOf(scaled(renewal, MONTH_SECONDS / RENEWED_EVERY_SECONDS), scaled(check, MONTH_SECONDS / LEASE_SECONDS));
}
