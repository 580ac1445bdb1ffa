import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKnown, type Known } from '../../measure/fuzz/known.ts';
import { asCurl, sendRaw } from '../../measure/fuzz/raw-http.ts';
import { bodyViolations } from '../../measure/fuzz/request-body.ts';
import { type FuzzRequest, requests } from '../../measure/fuzz/requests.ts';
import { expectConformance } from '../../support/conformance.ts';
import { useService } from '../../support/service.ts';

// FUZZ_SEED repeats the same requests. Generated ids differ, so the stored data can differ too.
const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
const BATCHES = Number(process.env.FUZZ_BATCHES ?? 100);
const service = useService();
let known: Known;

beforeAll(async () => {
  known = await createKnown(service);
});

describe('a request of at most 1 MiB with any content', () => {
  it(`returns only documented 5xx, and no 2xx for an invalid body (FUZZ_SEED=${seed})`, async () => {
    const successes = new Set<string>();
    const batches = fc.array(requests(known), { minLength: 1, maxLength: 11, size: 'max' });
    await fc.assert(
      fc.asyncProperty(batches, async (batch) => {
        const statuses = await Promise.all(batch.map(statusOf));
        for (const [i, { method }] of batch.entries()) if ((statuses[i] ?? 0) < 300) successes.add(method);
      }),
      { seed, numRuns: BATCHES, interruptAfterTimeLimit: 55_000 },
    );
    expect([...successes], 'not all was refused').toEqual(expect.arrayContaining(['GET', 'PATCH', 'POST', 'PUT']));
  });
});

async function statusOf(sent: FuzzRequest): Promise<number> {
  const response = await sendRaw(service.stack.baseUrl, sent).catch((error: Error) => error);
  const said = response instanceof Error ? response.message : `${response.status} ${response.text.slice(0, 500)}`;
  const seen = `${asCurl(sent)}\n→ ${said}\n`;
  if (response instanceof Error) throw new Error(seen);
  expect(response.status, seen).toBeLessThan(500);
  if (response.status < 300) expect(bodyViolations(sent), seen).toEqual([]);
  // The gateway rejects bodies that it cannot decompress before it finds an operation, so this 413 belongs to none.
  if (response.status === 413 && sent.headers.some(([name]) => name === 'Content-Encoding')) return response.status;
  try {
    expectConformance(sent.method, sent.target, response);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${seen}`);
  }
  return response.status;
}
