import { expect, it } from 'vitest';
import { settingAside } from '../../../lib/deliveries/stream-consumers.ts';

/** Handles a record that throws `error`, and returns what happened to it. */
async function handled(error: Error | undefined, setAside: () => Promise<void> = async () => {}) {
  const kept: unknown[] = [];
  const handle = settingAside<string>(
    async () => {
      if (error) throw error;
    },
    {
      isOutage: ({ message }: Error) => message === 'outage',
      async setAside(record, cause) {
        await setAside();
        kept.push([record, cause]);
      },
    },
  );
  const thrown = await handle('record').catch((cause: unknown) => cause);
  return { kept, thrown };
}

it('stores nothing for a successful record', async () => {
  expect(await handled(undefined)).toEqual({ kept: [], thrown: undefined });
});

it('retries a record that fails during an outage', async () => {
  const outage = new Error('outage');
  expect(await handled(outage)).toEqual({ kept: [], thrown: outage });
});

it('sets a record aside that fails for another reason, and continues', async () => {
  const refusal = new Error('refused');
  expect(await handled(refusal)).toEqual({ kept: [['record', refusal]], thrown: undefined });
});

it('retries a record that cannot be set aside', async () => {
  const failure = new Error('bucket');
  expect(await handled(new Error('refused'), () => Promise.reject(failure))).toEqual({ kept: [], thrown: failure });
});
