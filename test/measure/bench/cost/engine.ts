import { startMetered } from './metered.ts';
import { scaled, sumOf, type Usage } from './usage.ts';

const CONNECTIONS = 10_000;
const LASTS_SECONDS = 60 * 60;
const LEASE_SECONDS = 60;
/** The time between two renewals of the lease, and between two reads of the public keys, which the API allows. */
const EVERY_SECONDS = 10;
const MONTH_SECONDS = 30 * 24 * 60 * 60;
const SHORT_LEASE_SECONDS = 10;
/** Checks are gathered for two seconds, and take less than another one. */
const BATCHING_SECONDS = 3;
/** The number of samples for the mean. */
const COUNT = 20;

/**
 * Measures the usage of a sync engine in a month: 10,000 open connections that last an hour each, with one lease, and the public keys
 * with which it verifies their tokens.
 */
export async function usageOfEngine(assembly: string): Promise<Usage> {
  const { meter, send, stop } = await startMetered(assembly, 1);
  const changes = Math.ceil((CONNECTIONS * EVERY_SECONDS) / LASTS_SECONDS);
  const idsOf = (round: number) => Array.from({ length: changes }, (_, i) => `socket-${round}-${i}`);
  const connection = { node_id: crypto.randomUUID(), document_key: 'org:acme:project:document-1', user: 'user-1234' };
  const renew = (round: number, lease_seconds = LEASE_SECONDS) =>
    send('PUT', '/v1/engines/bench', {
      lease_seconds,
      opened: idsOf(round).map((id) => ({ id, ...connection })),
      closed: idsOf(round - 1).map((id) => ({ id })),
    });
  await renew(0);
  meter.take();
  for (let round = 1; round <= COUNT; round++) {
    await renew(round);
    await send('GET', '/v1/tokens/keys');
  }
  const period = scaled(meter.take(), 1 / COUNT);
  // The check of a short lease finds that it was renewed, and queues the next one.
  await renew(COUNT + 1, SHORT_LEASE_SECONDS);
  await renew(COUNT + 2);
  meter.take();
  await new Promise((done) => setTimeout(done, 1000 * (SHORT_LEASE_SECONDS + BATCHING_SECONDS)));
  const checked = meter.take();
  await stop();
  return sumOf(
    scaled(period, MONTH_SECONDS / EVERY_SECONDS),
    scaled(checked, MONTH_SECONDS / (LEASE_SECONDS - EVERY_SECONDS)),
  );
}
