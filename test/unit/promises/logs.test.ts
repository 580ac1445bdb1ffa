import { afterAll, describe, expect, it, type RunnerTask } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import { type Changing, CONTENT, changing, newScene, perform, type Scene } from './scene.ts';

const DELIVERY = ['project_id', 'environment', 'webhook_id', 'event_id', 'run', 'attempt'];
const MESSAGE = ['message_id', 'receive_count'];

/** The fields of the log events of requests and their work. A new field needs a decision that it never contains a credential or content. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'project.created': ['project_id'],
  'events.fanned_out': ['events', 'deliveries', 'skipped', 'set_aside'],
  'delivery.attempted': [
    ...[...DELIVERY, 'lane', 'status', 'status_code', 'error', 'error_reason'],
    ...['duration_ms', 'waited_ms', 'disabled'],
  ],
  'delivery.not_attempted': [...DELIVERY, 'lane', 'reason'],
  'delivery.handling_failed': [...DELIVERY, 'recovery_id', ...MESSAGE],
  'recovery.ended': ['project_id', 'environment', 'webhook_id', 'recovery_id'],
  'event.fan_out_failed': ['event_id'],
  'event.set_aside': ['event_id'],
  'stats.adding_failed': ['changes'],
  'stats.change_unreadable': ['keys'],
  'key.use_not_recorded': ['key_id', 'error'],
  'summary.failed': MESSAGE,
  'connection.check_failed': MESSAGE,
  'stats.added': ['changes', 'tallies'],
  'email_event.handled': ['project_id', 'bounced', 'complained'],
  'connection.checked': ['project_id', 'connection_id', 'result'],
  'engine.checked': ['project_id', 'engine_id', 'result'],
  'engine.swept': ['project_id', 'engine_id', 'connections'],
  'request.rejected': ['request_id', 'code', 'key_id', 'operation'],
  'request.failed': ['request_id', 'operation'],
  'authorization.failed': ['request_id'],
  'confirmation.not_sent': ['project_id'],
  'notice.not_sent': ['request_id', 'project_id', 'notice'],
  'sync.push_failed': ['request_id'],
};

/** The ids of a field. */
const IDS: Readonly<Record<string, RegExp>> = {
  project_id: /^prj_/,
  webhook_id: /^whk_/,
  event_id: /^evt_/,
  recovery_id: /^rec_/,
  key_id: /^key_/,
};

/** The part of a credential that is its secret begins before this length. */
const SECRET_LENGTH = 30;
/** The start of a JWT is that of all JWTs of its kind. The start of its other parts is not. */
const JWT_LENGTH = 40;

/** The fields that the lines of this file had. */
const seen = new Map<string, Set<string>>();

/** Checks the lines of the log, and the errors in them, that an action and the work after it write. */
async function expectSafeLog(ids: readonly Changing[], act: (scene: Scene) => Promise<unknown>): Promise<void> {
  const scene = await newScene(...ids);
  const { service, adminKey, second, live, token, session, webhook } = scene;
  await act(scene);
  delete service.faults.command;
  await service.settle();
  const causes = service.errors.map((error) => `${(error as Error).stack} ${JSON.stringify(error)}`);
  const credentials = [adminKey, second.key, live.key, webhook.secret].map((one) => one.slice(0, SECRET_LENGTH));
  const signed = [token.token, session].flatMap((one: string) =>
    one.split('.').map((part) => part.slice(0, JWT_LENGTH)),
  );
  const secrets = [CONTENT, ...credentials, ...signed];
  const leaks = [...service.log, ...causes].filter((text) => secrets.some((secret) => text.includes(secret)));
  expect(leaks).toEqual([]);
  for (const line of service.log) {
    const { message, ...fields } = JSON.parse(line);
    expect(FIELDS).toHaveProperty([message]);
    const known = seen.get(message) ?? new Set();
    seen.set(message, known);
    const isSafe = ([field, value]: [string, unknown]) =>
      FIELDS[message]?.includes(field) && (IDS[field] ?? /^/).test(String(value));
    expect(
      Object.entries(fields).filter((each) => !isSafe(each)),
      message,
    ).toEqual([]);
    for (const field of Object.keys(fields)) known.add(field);
  }
}

describe('the log has only known fields, with ids of their kind and without credentials and content, of', () => {
  it.each(changing)('a successful request and the work after it: %s', async (id) => {
    await expectSafeLog([id], async (scene) => expect((await perform(scene, id)).status).toBeLessThan(300));
  });

  const protectedOperations = Object.entries(operations).filter(([, { callers }]) => callers !== 'anyone');
  it.each(protectedOperations)('rejected requests with keys in their path: %s', async (_, { method, path }) => {
    await expectSafeLog([], async ({ service, admin, second, live, token, session }) => {
      const body = { [CONTENT]: CONTENT, name: CONTENT, fields: CONTENT };
      const statuses = new Set<number>();
      for (const segment of [second.key, `${second.key}${CONTENT}`]) {
        const url = `${path.replaceAll(/\{\w+\}/g, segment)}?cursor=${CONTENT}`;
        const clients = [live.key, token.token, session, 'unknown', null, `${second.key}x`].map(service.as);
        for (const client of [...clients, admin]) statuses.add((await client(method, url, { body })).status);
      }
      expect([...statuses]).toContain(401);
      expect([...statuses].some((status) => [400, 403, 404].includes(status))).toBe(true);
    });
  });

  const commands = ['BatchGet', 'Get', 'Query', 'Put', 'Update', 'TransactWrite', 'SendMessageBatch', 'SendEmail'];
  it.each(commands)('requests during an outage of AWS: %s', async (command) => {
    for (const id of changing) {
      await expectSafeLog([id], (scene) => {
        scene.service.faults.command = (name) => (name === command ? new Error(`${name} failed`) : undefined);
        return perform(scene, id);
      });
    }
  });

  it.each(commands)('the work after a request, in which a call to AWS fails: %s', async (command) => {
    for (const id of changing) {
      await expectSafeLog([id], async (scene) => {
        await perform(scene, id);
        const failing = [new Error(`${command} failed`)];
        scene.service.faults.aroundAll = ({ name }, act) =>
          name === command && failing.length > 0 ? Promise.reject(failing.pop()) : act();
        await scene.service.settle().catch(() => {}); // Lambda repeats a failed batch of stats
      });
    }
  });

  it.each(changing)('a request and its work, of which SQS refuses the first messages: %s', async (id) => {
    await expectSafeLog([id], async (scene) => {
      let calls = 0;
      scene.service.faults.aroundAll = async ({ name, input }, act) => {
        if (name !== 'SendMessageBatch' || ++calls > 3) return act();
        const refused = { Code: 'Refused', Message: 'Refused', SenderFault: calls > 1 };
        return { Failed: input.Entries.map(({ Id }: { Id: string }) => ({ Id, ...refused })) };
      };
      await perform(scene, id);
    });
  });

  it.each(['FIGURES', 'KEY'])('requests and their work, in which nothing can be written to %s', async (partition) => {
    await expectSafeLog([], async (scene) => {
      scene.service.clock.skip(3_600_000); // the use of a key is recorded again
      scene.service.faults.command = (name, input) =>
        name === 'Update' && JSON.stringify(input).includes(`"${partition}#`)
          ? new Error('The write failed')
          : undefined;
      await perform(scene, 'publishEvent');
      await scene.service.clock.advance(1000).catch(() => {}); // Lambda repeats a failed batch of stats
    });
  });

  it('a change of the table that cannot be read', async () => {
    await expectSafeLog([], async ({ service }) => {
      service.db.put([{ pk: 'HOOK#whk_1#0', sk: 'evt_1', expires: 1, attempts: [CONTENT] }]);
    });
  });
});

/** Whether each test of a file ran, without a filter. */
const ranCompletely = ({ tasks }: { tasks: readonly RunnerTask[] }): boolean =>
  tasks.every((task) => task.mode === 'run' && (task.type === 'test' || ranCompletely(task)));

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the fixtures from the pattern
afterAll(({}, file) => {
  if (!ranCompletely(file)) return;
  for (const [message, fields] of Object.entries(FIELDS))
    expect([...(seen.get(message) ?? [])].sort(), `the fields of ${message}`).toEqual([...fields].sort());
});
