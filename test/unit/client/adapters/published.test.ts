import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { documentSync } from '../../../../lib/client/adapters/hocuspocus.ts';
import { documentLog, snapshotOf } from '../../../../lib/client/adapters/published.ts';
import type { Engine } from '../../../../lib/client/engine/engine.ts';
import { temporaryDirectory } from '../../../support/after-file.ts';

const nested = () => {
  let value: unknown = 1;
  for (let i = 0; i < 300; i++) value = [value];
  return value;
};

describe('the fields of an engine', () => {
  it.each<[string, () => object | null, object]>([
    [
      'are JSON',
      () => ({ id: 1n, at: new Date(0) }),
      { fields: { id: '1', at: '1970-01-01T00:00:00.000Z' }, problems: [] },
    ],
    ['can be left out', () => null, { fields: null, problems: [] }],
    [
      'can fail',
      () => {
        throw new Error('no fields');
      },
      { fields: null, problems: ['the fields cannot be read, so changes are not published: no fields'] },
    ],
    [
      'can throw any value',
      () => {
        throw 'text';
      },
      { fields: null, problems: ['the fields cannot be read, so changes are not published: text'] },
    ],
    [
      'are no promise',
      async () => ({ a: 1 }),
      {
        fields: null,
        problems: [
          'the fields cannot be read, so changes are not published: The fields of a document must be an object, and no promise of one.',
        ],
      },
    ],
    [
      'can have a field that fails',
      () => ({
        get a() {
          throw new Error('no field');
        },
      }),
      { fields: null, problems: ['the fields cannot be read, so changes are not published: no field'] },
    ],
    [
      'can be nested too deep',
      () => ({ a: nested(), b: nested() }),
      {
        fields: expect.objectContaining({ a: expect.anything() }),
        problems: ['a value is not published as it is, because it is nested deeper than 190 levels.'],
      },
    ],
  ])('%s', (_, read, expected) => {
    expect(snapshotOf(read)).toEqual(expected);
  });
});

describe('a document that an engine has stored', () => {
  const fields = { a: 1 };
  const given = (...reasons: (string | null)[]) => {
    const log: string[] = [];
    const saved = async () => {
      const reason = reasons.shift();
      if (reason) throw new Error(reason);
    };
    return {
      log,
      publish: documentLog(Promise.resolve({ saved } as unknown as Engine), (message) => log.push(message)),
    };
  };

  it('logs each reason once, and again after a success', async () => {
    const { log, publish } = given('full', 'full', 'closed', null, 'closed', 'full');
    for (let i = 0; i < 6; i++) {
      publish('org:a', { fields, problems: [] });
      await setImmediate();
    }
    const problem = (reason: string) => `org:a: the document is stored, but its change is not published: ${reason}`;
    expect(log).toEqual(['full', 'closed', 'closed', 'full'].map(problem));
  });

  it('is not touched by a log that throws, or by an engine that cannot start', async () => {
    const failing = () => {
      throw new Error('no log');
    };
    documentLog(Promise.resolve({ saved: failing } as unknown as Engine), failing)('org:a', { fields, problems: [] });
    documentLog(Promise.reject(new Error('no directory')), failing)('org:a', { fields, problems: [] });
    await setImmediate(); // an unhandled rejection would fail the test
  });
});

describe('the extension of Hocuspocus', () => {
  const access = { baseUrl: 'https://api.example.com', credential: 'key' };
  class Redis {}

  it('does not start beside Redis, with one sentence', async () => {
    const sync = documentSync({ ...access, directory: temporaryDirectory() });
    await sync.onConfigure({ configuration: { extensions: [{}, sync] } });
    await sync.onListen();
    await sync.onConfigure({ configuration: { extensions: [new Redis(), sync] } });
    await expect(sync.onListen()).rejects.toThrow(/^documentSync cannot be used with Redis, because .+\.$/);
    await sync.onDestroy();
  });

  it('does not start with the directory of another one, with one sentence, and ends without an error', async () => {
    const directory = temporaryDirectory();
    const [first, second] = [documentSync({ ...access, directory }), documentSync({ ...access, directory })];
    await first.onListen();
    await expect(second.onListen()).rejects.toThrow(/^The directory .+ cannot be used: another process uses it\./);
    await second.onDestroy();
    await first.onDestroy();
  });
});
