import { styleText } from 'node:util';
import { visible } from '../../../lib/printable.ts';
import { startLocalReceiver } from '../../local/receiver.ts';
import { UserError } from '../../user-error.ts';
import { command } from '../command.ts';
import { OPTIONAL_STACK, outputsOf } from '../deployment.ts';
import { KEY_DEFAULT, requireUrl, TARGET_OPTIONS, type Target, targetOf } from '../target.ts';
import { integer } from '../usage.ts';
import { checks } from './checks.ts';
import { type Check, type Options, type Received, type Run, startRun } from './run.ts';

const COLORS = { passed: 'green', failed: 'red', skipped: 'yellow' } as const;

export const smoke = command(
  {
    command: 'smoke',
    about: `Checks from outside what only AWS can break, in the sandbox of the project of the admin key.
Deletes the resources that it creates. Sends a test email to the addresses of the project.`,
    options: {
      ...OPTIONAL_STACK,
      ...TARGET_OPTIONS,
      key: { ...TARGET_OPTIONS.key, about: `admin key ${KEY_DEFAULT}` },
      receiver: { type: 'string', value: 'URL', about: 'URL of a tunnel to this machine (the local stack needs none)' },
      listen: { type: 'string', value: 'PORT', default: '4000', about: 'the local port of the tunnel' },
    },
  },
  async ({ values }, shell) => {
    const port = integer('listen', values.listen, 1, 65535);
    if (values.receiver !== undefined) requireUrl('receiver', values.receiver);
    if (values.stack !== undefined && values['base-url'] !== undefined)
      throw new UserError('Pass either --stack or --base-url.');
    const baseUrl = values.stack === undefined ? values['base-url'] : (await outputsOf(shell, values.stack))('BaseUrl');
    const target = targetOf({ ...values, 'base-url': baseUrl }, 'admin', shell.variables);
    const receiverUrl = values.receiver ?? (baseUrl === undefined ? `http://127.0.0.1:${port}/` : undefined);
    const interruption = new AbortController();
    const { signal } = interruption;
    for (const each of ['SIGINT', 'SIGTERM'] as const) {
      process.once(each, () => {
        shell.print('\nCleaning up…\n');
        interruption.abort();
      });
    }
    const received: Received[] = [];
    const receiver = receiverUrl === undefined ? undefined : { url: receiverUrl, received };
    // It listens on loopback, because the service connects to a tunnel.
    const server =
      receiver &&
      (await startLocalReceiver(port, '--listen', ({ headers }, body) => {
        received.push({ headers, body });
        return 204;
      }));
    const count = { passed: 0, failed: 0, skipped: 0 };
    try {
      for await (const { name, outcome, reason } of runChecks(checks, target, { receiver, signal })) {
        count[outcome]++;
        const row = `${styleText(COLORS[outcome], outcome.padEnd(8), { stream: process.stdout })} ${name}`;
        shell.print(reason ? `${row}\n${' '.repeat(9)}${visible(reason)}\n` : `${row}\n`);
      }
    } finally {
      server?.close();
    }
    shell.print(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
    return count.failed > 0 || signal.aborted ? 1 : 0;
  },
);

export const CLEAN_UP = 'Deletes the resources of the run and revokes its keys';

/**
 * Runs the checks sequentially and deletes the resources that they created, also after a failure or an interruption. Throws
 * `UserError` before the first check if the API cannot be reached or rejects the admin key.
 */
export async function* runChecks(checks: readonly Check[], target: Target, options: Options) {
  const run = await startRun(target, options);
  for (const check of checks) {
    const skip = (reason: string) => ({ name: check.name, outcome: 'skipped', reason }) as const;
    if (run.signal.aborted) yield skip('interrupted');
    else if (check.needs === 'https' && !run.baseUrl.startsWith('https:'))
      yield skip('the base URL is not an https: URL');
    else if (check.needs === 'receiver' && !run.receiver) yield skip('--receiver is missing');
    else yield await attempt(check.name, () => check.run(run));
  }
  yield await attempt(CLEAN_UP, () => cleanUp(run)); // after an interruption too
}

/** Returns the outcome, and the reason unless the check passed. */
async function attempt(name: string, work: () => Promise<void>) {
  try {
    await work();
    return { name, outcome: 'passed', reason: '' } as const;
  } catch (error) {
    const { name: kind, message } = error as Error;
    if (kind === 'AbortError') return { name, outcome: 'skipped', reason: 'interrupted' } as const;
    return { name, outcome: 'failed', reason: message.split('\n')[0] } as const;
  }
}

/**
 * Deletes the resources of a run, including those whose response was lost. A revoked key remains in the list of keys. If one list
 * fails, the resources of the other lists are still deleted.
 */
async function cleanUp({ name, admin }: Run): Promise<void> {
  const requests: [method: string, path: string][] = [];
  const lists = [
    async () => {
      for await (const { id, description } of entriesOf(admin, '/v1/webhooks?environment=sandbox&limit=100'))
        if (description === name) requests.push(['DELETE', `/v1/webhooks/${id}?environment=sandbox`]);
    },
    async () => {
      const list = `/v1/documents?environment=sandbox&limit=100&prefix=${name}`;
      for await (const { document_key } of entriesOf(admin, list))
        requests.push(['DELETE', `/v1/documents/${document_key}?environment=sandbox`]);
    },
    async () => {
      for await (const key of entriesOf(admin, '/v1/keys?limit=100'))
        if (key.name === name && key.status !== 'revoked') requests.push(['POST', `/v1/keys/${key.id}/revoke`]);
    },
  ];
  const left: string[] = [];
  const fail = ({ message }: Error) => void left.push(message);
  for (const list of lists) await list().catch(fail);
  for (const request of requests) await admin(...request, [200, 204, 404]).catch(fail);
  if (left.length > 0) throw new Error(`resources of ${name} may be left: ${left.join('; ')}`);
}

async function* entriesOf(admin: Run['admin'], list: string) {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await admin('GET', list + (cursor && `&cursor=${encodeURIComponent(cursor)}`), 200);
    yield* json.data;
    cursor = json.next_cursor;
  }
}
