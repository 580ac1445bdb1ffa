import { visible } from '../../lib/printable.ts';
import type { ProjectOperation } from '../../lib/projects/operator-handlers.ts';
import { UserError } from '../user-error.ts';
import { command, type Shell } from './command.ts';
import { STACK_OPTION } from './deployment.ts';
import { ExportFile, type Position } from './export-file.ts';
import { invokerOf } from './invoker.ts';
import { DIRECTORY_OPTION } from './target.ts';

const USAGE = {
  command: 'npm run ops -- projects',
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
    ...STACK_OPTION,
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
} as const;

const printed = (value: unknown) => `${visible(JSON.stringify(value, null, 2))}\n`;

/** The longest pause between two calls, so that a command soon notices that another one has finished. */
const MAX_PAUSE_MS = 10_000;

interface Progress {
  state: 'deleting' | 'deleted';
  items_removed: number;
  items_read: number;
  waits_until: string | null;
}

async function listProjects(call: Call, { print }: Shell): Promise<void> {
  let after: Position | undefined;
  do {
    const page = (await call({ operation: 'list', after })) as { data: object[]; next: Position | null };
    for (const project of page.data) print(`${visible(JSON.stringify(project))}\n`);
    after = page.next ?? undefined;
  } while (after);
}

/** Continues a file that an earlier run has started. */
async function exportProject(call: Call, id: string, path: string | undefined, shell: Shell): Promise<void> {
  const file = new ExportFile(path, id, shell);
  for (let after = file.position; ; ) {
    const page = (await call({ operation: 'export', id, after })) as { lines: string[]; next: Position | null };
    file.write(page.lines, page.next);
    if (page.next === null) break;
    after = page.next;
    shell.say(`${file.lines} lines`);
  }
  shell.say(`The export is complete. This run wrote ${file.lines} lines.`);
}

async function deleteProject(call: Call, id: string, name: string | undefined, shell: Shell): Promise<void> {
  const { say, print, wait, clock } = shell;
  for (let said = ''; ; ) {
    const progress = (await call({ operation: 'delete', id, name })) as Progress;
    if (progress.state === 'deleted') {
      say(
        `The project is deleted. ${progress.items_removed} items were removed, and a pass over the whole table found none.`,
      );
      return print(printed(progress));
    }
    const { items_removed, items_read, waits_until } = progress;
    const pass = waits_until ? `. Checks again at ${waits_until}` : `, read ${items_read} in this pass`;
    const line = `Removed ${items_removed} items${pass}.`;
    if (line !== said) say(line);
    said = line;
    if (waits_until) await wait(Math.min(MAX_PAUSE_MS, Math.max(0, Date.parse(waits_until) - clock())));
  }
}

/** Enables the webhooks of a page of projects per call, because there can be many. A repeated command finds only the others. */
async function enableWebhooks(call: Call, window: EnableWindow, { say }: Shell): Promise<void> {
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

export const projects = command(USAGE, async ({ values, positionals: [action = '', id = '', ...more] }, shell) => {
  const { name, email } = values;
  if (!ACTIONS.includes(action))
    throw new UserError(
      'Name what to do: list, create, show, suspend, resume, create-key, export, delete or enable-webhooks.',
    );
  if (action === 'create' && (!name || !email)) throw new UserError('Pass --name and --email.');
  if (action === 'enable-webhooks' && (id || !values.since))
    throw new UserError('Pass --since TIME, and --project ID for only one project.');
  if (!id && !WITHOUT_ID.includes(action)) throw new UserError(`Name the project: ${USAGE.command} ${action} ID.`);
  if (more.length > 0) throw new UserError('Name one project.');
  const invoke = await invokerOf(values, shell);
  const call: Call = (operation) => invoke('Projects', operation);
  if (action === 'list') return listProjects(call, shell);
  if (action === 'create') {
    const project = await invoke('CreateProject', { name, email: email?.length === 1 ? email[0] : email });
    return shell.print(printed(project));
  }
  if (action === 'enable-webhooks') {
    const { project, since = '', until, 'dry-run': dry_run } = values;
    return enableWebhooks(call, { id: project, since, until, dry_run }, shell);
  }
  if (action === 'export') return exportProject(call, id, values.output, shell);
  if (action !== 'delete') {
    const result = await call({ operation: action as 'show' | 'suspend' | 'resume' | 'create-key', id });
    return shell.print(printed(result));
  }
  const project = (await call({ operation: 'show', id })) as { name?: string };
  await deleteProject(
    call,
    id,
    project.name === undefined ? undefined : (values.name ?? (await askName(id, shell))),
    shell,
  );
});

/** Asks for the name, which the function compares. A continued deletion has no name anymore. Throws `UserError`. */
async function askName(id: string, { ask }: Shell): Promise<string> {
  try {
    return await ask(`This removes all data of ${id}. Type the name of the project to confirm: `);
  } catch {
    throw new UserError('Nothing was deleted. Type the name of the project, or pass it with --name.');
  }
}
