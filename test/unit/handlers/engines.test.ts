import { describe, expect, it } from 'vitest';
import { code, listed, mint } from '../../support/documents.ts';
import { queueRecord } from '../../support/entries.ts';
import { memoryService } from '../../support/memory-service.ts';
import type { Client } from '../../support/service.ts';

const service = memoryService();
const live = async () => (await service.project()).client('live');

interface Changes {
  lease_seconds?: number;
  opened?: object[];
  closed?: object[];
}
const renew = (client: Client, changes: Changes = {}, id = 'engine-1') =>
  client('PUT', `/v1/engines/${id}`, { body: { lease_seconds: 30, ...changes } });
const renewed = async (...given: Parameters<typeof renew>) => {
  const answer = await renew(...given);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const close = (client: Client, id = 'engine-1') => client('DELETE', `/v1/engines/${id}`);
const socket = (id: string, more: object = {}) => ({ id, node_id: `node of ${id}`, ...more });
const sockets = (...ids: string[]) => ids.map((id) => socket(id));
const dataOfLost = async (client: Client) =>
  (await listed(client, '/v1/events?type=connection.lost')).map(({ data }) => data);
const lostIds = async (client: Client): Promise<string[]> =>
  (await dataOfLost(client)).map(({ connection_id }) => connection_id).sort();
const itemsOf = (kind: string) => [...service.db.items()].filter(({ pk }) => String(pk).startsWith(`${kind}#`));
const stored = () => itemsOf('ENGINE').filter(({ sk }) => String(sk).includes('#'));
/** The connections in all events of a project, also when a list would have many pages. */
const allLost = ({ id }: { id: string }): string[] =>
  itemsOf('EVENT')
    .filter(({ pk }) => String(pk).includes(id))
    .map(({ body }) => JSON.parse(String(body)).data.connection_id)
    .sort();

describe('the lease of an engine', () => {
  it('reports every open connection when it expires, once and within seconds', async () => {
    const client = await live();
    const first = await renewed(client, {
      opened: [socket('a', { document_key: 'org:acme:doc-1', user: 'user-7' }), ...sockets('b', 'c')],
    });
    service.clock.skip(10_000);
    await service.clock.advance(10_000);
    const last = await renewed(client, { opened: sockets('d'), closed: [{ id: 'b' }] });
    expect(last.opened_at).toBe(first.opened_at);
    expect(Date.parse(last.expires_at) - Date.parse(last.last_seen_at)).toBe(30_000);
    await service.clock.advance(29_999);
    expect(await lostIds(client)).toEqual([]);
    await service.clock.advance(5000);
    expect(await lostIds(client)).toEqual(['a', 'c', 'd']);
    const lost = await dataOfLost(client);
    expect(lost.find(({ connection_id }) => connection_id === 'a')).toEqual({
      connection_id: 'a',
      node_id: 'node of a',
      document_key: 'org:acme:doc-1',
      user: 'user-7',
      connected_at: first.opened_at,
      last_seen_at: last.last_seen_at,
      lost_at: last.expires_at,
    });
    await service.settle();
    expect(await lostIds(client)).toEqual(['a', 'c', 'd']);
    expect(stored()).toEqual([]);
  });

  it('is renewed without changes, for as long as the engine lives', async () => {
    const client = await live();
    await renewed(client, { opened: sockets('a') });
    for (let i = 0; i < 50; i++) {
      await service.clock.advance(20_000);
      await renewed(client);
    }
    expect(await lostIds(client)).toEqual([]);
    await service.settle();
    expect(await lostIds(client)).toEqual(['a']);
  });

  it('schedules one check until it ends earlier', async () => {
    const client = await live();
    const checksOf = async (...leases: number[]) => {
      const before = service.checks.length;
      for (const lease_seconds of leases) await renewed(client, { lease_seconds });
      return service.checks.slice(before);
    };
    expect(await checksOf(60, 60, 600)).toEqual([60]);
    expect(await checksOf(10)).toEqual([10]);
  });

  it('that has expired is a new one for the next request, also before its check', async () => {
    const client = await live();
    const first = await renewed(client, { opened: sockets('a', 'b') });
    service.clock.skip(30_000); // the check is late
    const second = await renewed(client, { opened: sockets('b', 'c') });
    expect(second.opened_at).not.toBe(first.opened_at);
    await service.clock.advance(20_000);
    expect(await dataOfLost(client)).toMatchObject(
      ['b', 'a'].map(() => ({ connected_at: first.opened_at, lost_at: first.expires_at })),
    );
    expect(await lostIds(client)).toEqual(['a', 'b']);
    await service.settle();
    expect(await lostIds(client)).toEqual(['a', 'b', 'b', 'c']);
  });

  it('is that of one engine, environment and project', async () => {
    const { admin, ...project } = await service.project();
    const client = await project.client('live');
    const test = await project.client('test');
    const stranger = await live();
    for (const [each, id] of [
      [client, 'engine-1'],
      [client, 'engine-2'],
      [test, 'engine-1'],
      [stranger, 'engine-1'],
    ] as const)
      await renewed(each, { opened: sockets('a') }, id);
    expect((await close(test)).status).toBe(204);
    expect((await close(admin, 'engine-2')).status).toBe(204); // a key can use every engine of its environment
    await service.settle();
    expect(await lostIds(client)).toEqual(['a']);
    expect(await lostIds(test)).toEqual([]);
    expect(await lostIds(stranger)).toEqual(['a']);
  });

  it('cannot be used by a scoped token or a read key', async () => {
    const project = await service.project();
    const token = service.as(await mint(await project.client('live'), ['*'], ['read', 'write']));
    for (const client of [token, await project.client('read')]) {
      expect(code(await renew(client))).toEqual([403, 'insufficient_permissions']);
      expect(code(await close(client))).toEqual([403, 'insufficient_permissions']);
    }
  });

  it('ends when the project is suspended, because it cannot be renewed', async () => {
    const project = await service.project();
    const client = await project.client('live');
    await renewed(client, { opened: sockets('a') });
    await service.administer({ operation: 'suspend', id: project.id });
    expect(code(await renew(client))).toEqual([403, 'project_suspended']);
    await service.settle();
    expect(stored()).toEqual([]);
    await service.administer({ operation: 'resume', id: project.id });
    expect(await lostIds(client)).toEqual(['a']);
  });
});

describe('a connection of an engine', () => {
  it('that closes is no loss, and one that is lost has one event', async () => {
    const client = await live();
    const opened = [socket('a'), socket('b', { document_key: 'org:acme:doc-1', user: 'user-7' }), socket('c')];
    const { opened_at } = await renewed(client, { opened });
    await service.clock.advance(10_000);
    const changes = { closed: [{ id: 'a' }, { id: 'b', lost: true }, { id: 'unknown', lost: true }, { id: 'other' }] };
    const { last_seen_at } = await renewed(client, changes);
    const data = { document_key: 'org:acme:doc-1', user: 'user-7', connected_at: opened_at, last_seen_at: opened_at };
    expect(await dataOfLost(client)).toEqual([
      { connection_id: 'b', node_id: 'node of b', ...data, lost_at: last_seen_at },
    ]);
    expect((await listed(client, '/v1/events?document_key=org:acme:doc-1')).length).toBe(1);
    await renewed(client, changes); // a repetition
    expect((await close(client)).status).toBe(204);
    await service.settle();
    expect(await lostIds(client)).toEqual(['b']);
  });

  it('can open and close in one request', async () => {
    const client = await live();
    await renewed(client, { opened: sockets('a', 'b'), closed: [{ id: 'a' }, { id: 'b', lost: true }] });
    expect(await lostIds(client)).toEqual(['b']);
    await close(client);
    await service.settle();
    expect(await lostIds(client)).toEqual(['b']);
  });

  it('stays the same when the request that opened it is repeated', async () => {
    const client = await live();
    const { opened_at } = await renewed(client, { opened: sockets('a') });
    await service.clock.advance(5000);
    await renewed(client, { opened: sockets('a') });
    await service.settle();
    expect(await dataOfLost(client)).toMatchObject([{ connection_id: 'a', connected_at: opened_at }]);
  });

  it.each<[string, Changes, string, string]>([
    [
      'more than 500 changes',
      { opened: sockets(...Array.from({ length: 501 }, (_, i) => `a${i}`)) },
      'opened',
      'must have at most 500 entries',
    ],
    [
      'more than 500 entries that are no objects',
      { opened: Array<never>(501).fill(null as never) },
      'opened',
      'must have at most 500 entries',
    ],
    [
      'more than 500 changes in both lists',
      {
        opened: sockets(...Array.from({ length: 400 }, (_, i) => `a${i}`)),
        closed: Array.from({ length: 101 }, (_, i) => ({ id: `b${i}` })),
      },
      'opened',
      'must have at most 500 entries together with closed',
    ],
    ['an id twice', { opened: sockets('a', 'a') }, 'opened', 'must have each id once'],
    ['a closed id twice', { closed: [{ id: 'a' }, { id: 'a', lost: true }] }, 'closed', 'must have each id once'],
    ['a short lease', { lease_seconds: 9 }, 'lease_seconds', 'must be an integer from 10 to 900'],
    ['an invalid document', { opened: [socket('a', { document_key: 'a b' })] }, 'opened[0].document_key', 'must'],
    ['another member', { closed: [{ id: 'a', reason: 'x' }] }, 'closed[0].reason', 'is not a known field'],
  ])('is not accepted with %s', async (_, changes, field, detail) => {
    const answer = await renew(await live(), changes);
    expect(code(answer)).toEqual([400, 'invalid_request']);
    expect(answer.body.errors[0].field).toBe(field);
    expect(answer.body.errors[0].detail).toContain(detail);
  });

  it('is one of 500 that one request changes', async () => {
    const project = await service.project();
    const client = await project.client('live');
    const ids = Array.from({ length: 500 }, (_, i) => `a${i}`);
    await renewed(client, { opened: sockets(...ids) });
    await renewed(client, { closed: ids.map((id) => ({ id, lost: true })) });
    expect(allLost(project)).toEqual(ids.sort());
    expect(stored()).toEqual([]);
  });
});

describe('an engine that closes', () => {
  it('closes its connections without events, and a repetition does the same', async () => {
    const client = await live();
    await renewed(client, { opened: sockets('a', 'b') });
    expect((await close(client)).status).toBe(204);
    const messages = service.checks.length;
    expect((await close(client)).status).toBe(204);
    expect(service.checks.length).toBe(messages);
    await service.settle();
    expect([await lostIds(client), stored()]).toEqual([[], []]);
    expect(code(await close(client, 'engine-2'))).toEqual([404, 'not_found']);
  });

  it('after its lease has expired has lost its connections', async () => {
    const client = await live();
    await renewed(client, { opened: sockets('a') });
    service.clock.skip(30_000);
    expect((await close(client)).status).toBe(204);
    await service.settle();
    expect(await lostIds(client)).toEqual(['a']);
  });

  it('can open a new lease', async () => {
    const client = await live();
    await renewed(client, { opened: sockets('a') });
    await close(client);
    await renewed(client, { opened: sockets('b') });
    await service.settle();
    expect(await lostIds(client)).toEqual(['b']);
  });
});

describe('concurrent requests of one engine', () => {
  it('renew the lease, and one of them changes connections', async () => {
    const client = await live();
    await renewed(client);
    const answers = await Promise.all(['a', 'b', 'c'].map((id) => renew(client, { opened: sockets(id) })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    for (const each of answers.filter(({ status }) => status !== 200)) {
      expect(code(each)).toEqual([429, 'too_many_requests']);
      expect(each.headers['retry-after']).toBe('1');
    }
    const winner = ['a', 'b', 'c'][statuses.indexOf(200)];
    await service.settle();
    expect(await lostIds(client)).toEqual([winner]);
  });

  it('wait for a function that was killed, and the lease stays', async () => {
    const client = await live();
    await renewed(client, { lease_seconds: 10, opened: sockets('a') });
    const killed = Promise.withResolvers<object>();
    service.faults.around = ({ input }, act) => (input.Key?.sk.endsWith('#b') ? killed.promise : act());
    const dying = renew(client, { lease_seconds: 10, opened: sockets('b') });
    await new Promise((done) => setTimeout(done, 20));
    service.faults.around = undefined;
    for (let i = 0; i < 4; i++) {
      expect(code(await renew(client, { lease_seconds: 10, closed: [{ id: 'a' }] }))).toEqual([
        429,
        'too_many_requests',
      ]);
      await service.clock.advance(8000);
    }
    expect(await lostIds(client)).toEqual([]);
    await renewed(client, { lease_seconds: 10, closed: [{ id: 'a' }] });
    killed.resolve({});
    await dying;
    await service.settle();
    expect(await lostIds(client)).toEqual([]);
  });

  it('of a session that has ended leave nothing behind', async () => {
    const client = await live();
    await renewed(client);
    const late = Promise.withResolvers<void>();
    service.faults.around = async ({ input }, act) => {
      if (input.Key?.sk.endsWith('#a')) await late.promise;
      return act();
    };
    const opening = renew(client, { opened: sockets('a') });
    await new Promise((done) => setTimeout(done, 20));
    expect((await close(client)).status).toBe(204);
    await service.clock.advance(5000);
    late.resolve();
    await opening;
    service.faults.around = undefined;
    expect(stored()).toHaveLength(1);
    await service.settle();
    expect([await lostIds(client), stored()]).toEqual([[], []]);
  });
});

describe('a check of an engine', () => {
  it('ends its session also after a function stopped before it queued the work', async () => {
    const client = await live();
    await renewed(client, { opened: sockets('a') });
    let isStopped = false;
    service.faults.command = (name, input) => {
      const isSweep = name === 'SendMessageBatch' && JSON.stringify(input).includes('partition');
      if (!isSweep || isStopped) return undefined;
      isStopped = true;
      return new Error('The function was killed');
    };
    await service.clock.advance(40_000);
    expect([isStopped, await lostIds(client)]).toEqual([true, []]);
    service.faults.command = undefined;
    await service.settle();
    expect(await lostIds(client)).toEqual(['a']);
    expect(service.failures.splice(0)).toContain('connection.check_failed');
  });

  it('reports the connections within seconds, also while the table is throttled', async () => {
    const client = await live();
    await renewed(client, { opened: sockets(...Array.from({ length: 100 }, (_, i) => `a${i}`)) });
    let throttled = 0;
    service.faults.command = (name, input) => {
      const isLoss = name === 'TransactWrite' && JSON.stringify(input).includes('ENGINE#');
      if (!isLoss || throttled++ % 2 === 1) return undefined;
      return Object.assign(new Error('Slow down'), { name: 'ThrottlingException', $retryable: { throttling: true } });
    };
    await service.clock.advance(60_000);
    service.faults.command = undefined;
    expect(throttled).toBeGreaterThan(20);
    expect([stored(), service.failures]).toEqual([[], []]);
  });

  it('continues with a message after some seconds of work', async () => {
    const client = await live();
    await renewed(client, { opened: sockets(...Array.from({ length: 50 }, (_, i) => `a${i}`)) });
    let sweeps = 0;
    service.faults.aroundAll = async ({ name, input }, act) => {
      if (name === 'Query' && JSON.stringify(input).includes('ENGINE#')) {
        sweeps++;
        service.clock.skip(9000); // a slow table
        return { ...(await act()), LastEvaluatedKey: { pk: 'ENGINE#', sk: 'more' } };
      }
      return act();
    };
    for (let i = 0; i < 4; i++) await service.clock.advance(15_000);
    service.faults.aroundAll = undefined;
    expect(sweeps).toBeGreaterThan(16);
    await service.settle();
    expect(stored()).toEqual([]);
  });

  it('that arrives again changes nothing', async () => {
    const project = await service.project();
    const client = await project.client('live');
    await renewed(client, { opened: sockets('a') });
    const [{ session } = { session: '' }] = [...service.db.items()].filter(
      ({ sk, projectId }) => sk === 'engine-1' && projectId === project.id,
    );
    const message = { engineId: 'engine-1', session, projectId: project.id, environment: 'live' };
    const check = (more: object = {}) =>
      service.invoke('check-connection', { Records: [queueRecord('m', JSON.stringify({ ...message, ...more }))] });
    await check({ checkAt: 1 }); // outdated
    await check({ session: 'another' });
    await check(); // of a copied table
    await service.settle();
    expect(await lostIds(client)).toEqual(['a']);
    await check();
    await service.settle();
    expect(await lostIds(client)).toEqual(['a']);
  });
});

// The last test, because `replay.ts` repeats what comes before a new kind of command.
it('the lease of an engine with 10,000 connections reports them', async () => {
  const project = await service.project();
  const client = await project.client('live');
  const ids = Array.from({ length: 10_000 }, (_, i) => `socket-${String(i).padStart(5, '0')}`);
  for (let i = 0; i < ids.length; i += 500) await renewed(client, { opened: sockets(...ids.slice(i, i + 500)) });
  await service.clock.advance(40_000);
  expect(allLost(project)).toEqual(ids);
  expect(stored()).toEqual([]);
});
