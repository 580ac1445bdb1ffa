import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { visible } from '../../lib/printable.ts';
import type { ProjectOperation } from '../../lib/projects/administration.ts';
import { UserError } from '../user-error.ts';
import { command, runCommand } from './command.ts';
import { ExportFile, type Position } from './export-file.ts';
import { invokerOf } from './invoker.ts';
import { DIRECTORY_OPTION } from './target.ts';

const USAGE = {
  command: 'npm run projects',
  positionals: 'ACTION [ID]',
  about: `Manages the projects of a deployment or of the running local stack.

  list           every project: state, creation, keys, webhooks, and deliveries of the last 30 days
  create         creates a project, and prints its first admin key once
  show ID        one project, or the progress of its deletion
  suspend ID     rejects every credential with 403 project_suspended, and stops deliveries
  resume ID      ends the suspension
  create-key ID  creates an admin key for a customer who has none that works, and prints it once
  export ID      writes all data of a project as JSON Lines, without secrets
  delete ID      revokes every credential, and removes all data of a project. Run it again to continue.

  enable-webhooks  enables the webhooks that failed deliveries disabled, and recovers their deliveries. Run it again to continue.`,
  options: {
    stack: { type: 'string', value: 'NAME', about: 'name of the CloudFormation stack (the running local stack)' },
    ...DIRECTORY_OPTION,
    name: { type: 'string', value: 'NAME', about: 'create: the name. delete: the name, instead of the question' },
    email: {
      type: 'string',
      value: 'ADDRESS',
      multiple: true,
      about: 'create: an address for notifications. Repeat it for up to five',
    },
    since: { type: 'string', value: 'TIME', about: 'enable-webhooks: disabled at this time or later' },
    until: { type: 'string', value: 'TIME', about: 'enable-webhooks: disabled at this time or earlier (now)' },
    project: { type: 'string', value: 'ID', about: 'enable-webhooks: only the webhooks of this project' },
    'dry-run': { type: 'boolean', default: false, about: 'enable-webhooks: only count the webhooks' },
    output: { type: 'string', value: 'FILE', about: 'export: the file. Run the command again to continue it' },
  },
  notes: 'With --stack, the command requires version 2 of the AWS CLI and credentials that can invoke the functions.',
} as const;

const say = (text: string) => void process.stderr.write(`${text}\n`);
const print = (value: unknown) => void process.stdout.write(`${visible(JSON.stringify(value, null, 2))}\n`);

/** The longest pause between two calls, so that a command soon notices that another one has finished. */
const MAX_PAUSE_MS = 10_000;

interface Progress {
  state: 'deleting' | 'deleted';
  items_removed: number;
  items_read: number;
  waits_until: string | null;
}

export async function listProjects(call: Call): Promise<void> {
  let after: Position | undefined;
  do {
    const page = (await call({ operation: 'list', after })) as { data: object[]; next: Position | null };
    for (const project of page.data) process.stdout.write(`${visible(JSON.stringify(project))}\n`);
    after = page.next ?? undefined;
  } while (after);
}

/** Continues a file that an earlier run has started. */
export async function exportProject(call: Call, id: string, path: string | undefined): Promise<void> {
  const file = new ExportFile(path, id);
  for (let after = file.position; ; ) {
    const page = (await call({ operation: 'export', id, after })) as { lines: string[]; next: Position | null };
    file.write(page.lines, page.next);
    if (page.next === null) break;
    after = page.next;
    say(`${file.lines} lines`);
  }
  say(`The export is complete. This run wrote ${file.lines} lines.`);
}

export async function deleteProject(call: Call, id: string, name: string | undefined): Promise<void> {
  for (;;) {
    const progress = (await call({ operation: 'delete', id, name })) as Progress;
    if (progress.state === 'deleted') {
      say(
        `The project is deleted. ${progress.items_removed} items were removed, and a pass over the whole table found none.`,
      );
      return print(progress);
    }
    const { items_removed, items_read, waits_until } = progress;
    say(
      `Removed ${items_removed} items${waits_until ? `. Checks again at ${waits_until}` : `, read ${items_read} in this pass`}.`,
    );
    if (waits_until) await pause(Math.min(MAX_PAUSE_MS, Math.max(0, Date.parse(waits_until) - Date.now())));
  }
}

/** Enables the webhooks of a page of projects per call, because there can be many. A repeated command finds only the others. */
export async function enableWebhooks(call: Call, window: EnableWindow): Promise<void> {
  let count = 0;
  let after: Position | undefined;
  do {
    const page = (await call({ operation: 'enable-webhooks', ...window, after })) as Enabled;
    count += page.webhooks;
    after = page.next ?? undefined;
  } while (after);
  say(
    window.dry_run
      ? `The command would enable ${count} webhooks.`
      : `Enabled ${count} webhooks. Their recoveries start within 60 seconds.`,
  );
}

type EnableWindow = Omit<Extract<ProjectOperation, { operation: 'enable-webhooks' }>, 'operation' | 'after'>;
interface Enabled {
  webhooks: number;
  next: Position | null;
}

type Call = (operation: ProjectOperation) => Promise<unknown>;

const ACTIONS = ['list', 'create', 'show', 'suspend', 'resume', 'create-key', 'export', 'delete', 'enable-webhooks'];
const WITHOUT_ID = ['list', 'create', 'enable-webhooks'];

const projects = command(USAGE, async ({ values, positionals: [action = '', id = '', ...more] }) => {
  const { name, email } = values;
  if (!ACTIONS.includes(action))
    throw new UserError(
      'Name what to do: list, create, show, suspend, resume, create-key, export, delete or enable-webhooks.',
    );
  if (action === 'create' && (!name || !email)) throw new UserError('Pass --name and --email.');
  if (action === 'enable-webhooks' && (id || !values.since))
    throw new UserError('Pass --since TIME, and --project ID for only one project.');
  if (!id && !WITHOUT_ID.includes(action)) throw new UserError(`Name the project: npm run projects -- ${action} ID.`);
  if (more.length > 0) throw new UserError('Name one project.');
  const invoke = await invokerOf(values);
  const call: Call = (operation) => invoke('Projects', operation);
  if (action === 'list') return listProjects(call);
  if (action === 'create')
    return print(await invoke('CreateProject', { name, email: email?.length === 1 ? email[0] : email }));
  if (action === 'enable-webhooks')
    return enableWebhooks(call, {
      id: values.project,
      since: values.since ?? '',
      until: values.until,
      dry_run: values['dry-run'],
    });
  if (action === 'export') return exportProject(call, id, values.output);
  if (action !== 'delete')
    return print(await call({ operation: action as 'show' | 'suspend' | 'resume' | 'create-key', id }));
  const project = (await call({ operation: 'show', id })) as { name?: string };
  await deleteProject(call, id, project.name === undefined ? undefined : (values.name ?? (await askName(id))));
});

/** Asks for the name, which the function compares. A continued deletion has no name anymore. Throws `UserError`. */
async function askName(id: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const end = new AbortController();
  terminal.once('close', () => end.abort()); // Ctrl-C, Ctrl-D, or no terminal
  const question = `This removes all data of ${id}. Type the name of the project to confirm: `;
  try {
    return await terminal.question(question, { signal: end.signal });
  } catch {
    throw new UserError('Nothing was deleted. Type the name of the project, or pass it with --name.');
  } finally {
    terminal.close();
  }
}

if (import.meta.main) await runCommand(projects);
