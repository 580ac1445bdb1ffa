import type { deletionResource } from '../../lib/operators/delete-project.ts';
import type { ProjectOperation } from '../../lib/operators/handlers.ts';
import { visible } from '../../lib/printable.ts';
import { UserError } from '../user-error.ts';
import { command, type Shell } from './command.ts';
import { invokeFunction, OPTIONAL_STACK, outputsOf } from './deployment.ts';
import { openExport, type Position } from './export-file.ts';
import { DIRECTORY_OPTION, readStackFile, request } from './target.ts';

/** The longest pause between two calls, so that a command soon notices that another one has finished. */
const MAX_PAUSE_MS = 10_000;
/** The shortest pause, because the clock of this machine can be ahead. */
const MIN_PAUSE_MS = 1000;
/** The calls after which the command says that it still works, about a minute. Deleted webhooks can have nothing to remove. */
const SILENT_CALLS = 6;
/** Each action with the options that only some actions have. */
const ACTIONS: Record<string, readonly string[]> = {
  list: [],
  create: ['name', 'email'],
  show: [],
  suspend: [],
  resume: [],
  'create-key': [],
  export: ['output'],
  delete: ['name'],
  'enable-webhooks': ['since', 'until', 'project', 'dry-run'],
};
const WITHOUT_ID = ['list', 'create', 'enable-webhooks'];

export const projects = command(
  {
    command: 'projects',
    positionals: 'ACTION [ID]',
    about: `Manages the projects of a deployment or of the running local stack.

  list           every project: state, creation, usable keys, webhooks, and deliveries of the last 30 days
  create         creates a project with up to five addresses, and prints its first admin key once
  show ID        one project, or the progress of its deletion
  suspend ID     rejects every credential with 403 project_suspended, and stops deliveries
  resume ID      ends the suspension
  create-key ID  creates an admin key for a customer who has none that works, and prints it once
  export ID      writes all data of a project as JSON Lines, without secrets
  delete ID      revokes every credential, and removes all data of a project. Run it again to continue.

  enable-webhooks  enables the webhooks that failed deliveries disabled, and recovers their deliveries. Run it again to continue.`,
    options: {
      ...OPTIONAL_STACK,
      ...DIRECTORY_OPTION,
      name: { type: 'string', value: 'NAME', about: 'create: the name. delete: the name, instead of the question' },
      email: { type: 'string', value: 'ADDRESS', multiple: true, about: 'create: an address for notifications' },
      since: { type: 'string', value: 'TIME', about: 'enable-webhooks: disabled at this time or later' },
      until: { type: 'string', value: 'TIME', about: 'enable-webhooks: disabled at this time or earlier (now)' },
      project: { type: 'string', value: 'ID', about: 'enable-webhooks: only the webhooks of this project' },
      'dry-run': { type: 'boolean', default: false, about: 'enable-webhooks: only count the webhooks' },
      output: { type: 'string', value: 'FILE', about: 'export: the file. Run the command again to continue it' },
    },
  },
  async ({ values, positionals: [action = '', id = '', ...more] }, shell) => {
    const { name, email, since = '', until, project, 'dry-run': dry_run, output = '' } = values;
    if (!Object.hasOwn(ACTIONS, action))
      throw new UserError(
        `Name what to do: ${Object.keys(ACTIONS)
          .join(', ')
          .replace(/, (?=[^,]+$)/, ' or ')}.`,
      );
    // An ignored option or argument is dangerous: `delete --dry-run` would delete.
    for (const option of Object.values(ACTIONS).flat())
      if ((values as Record<string, unknown>)[option] && !ACTIONS[action]?.includes(option))
        throw new UserError(`${action} has no option --${option}.`);
    if (id && WITHOUT_ID.includes(action))
      throw new UserError(`${action} has no argument ${id}. Run \`npm run ops -- projects --help\` for its options.`);
    if (action === 'create' && (!name || !email)) throw new UserError('Pass --name and --email.');
    if (action === 'enable-webhooks' && !since)
      throw new UserError('Pass --since TIME, and --project ID for only one project.');
    if (!id && !WITHOUT_ID.includes(action))
      throw new UserError(`Name the project: npm run ops -- projects ${action} ID.`);
    if (action === 'export' && !output) throw new UserError('Pass --output FILE.');
    if (more.length > 0) throw new UserError('Name one project.');
    const invoke = await invokerOf(values, shell);
    const call: Call = (operation) => invoke('Projects', operation);
    switch (action) {
      case 'list':
        for await (const { data } of pagesOf<{ data: object[] }>(call, { operation: 'list' }))
          for (const each of data) shell.print(`${visible(JSON.stringify(each))}\n`);
        return;
      case 'create':
        return shell.print(printed(await invoke('CreateProject', { name, email })));
      case 'enable-webhooks':
        return enableWebhooks(call, { operation: 'enable-webhooks', id: project, since, until, dry_run }, shell);
      case 'export':
        return exportProject(call, id, output, shell);
      case 'delete':
        return deleteProject(call, id, name, shell);
      default:
        return shell.print(
          printed(await call({ operation: action as 'show' | 'suspend' | 'resume' | 'create-key', id })),
        );
    }
  },
);

type Invoke = (name: 'Projects' | 'CreateProject', event: object) => Promise<unknown>;
type Call = (operation: ProjectOperation) => Promise<unknown>;
type Paged = Extract<ProjectOperation, { after?: unknown }>;

/** Invokes functions of a deployed stack, or of the running local stack without a name. Throws `UserError`. */
async function invokerOf({ stack, directory }: { stack?: string; directory?: string }, shell: Shell): Promise<Invoke> {
  if (stack !== undefined) {
    const output = await outputsOf(shell, stack);
    return (name, event) => invokeFunction(shell, output(`${name}Function`), event);
  }
  const { base_url: baseUrl, invoke_token: key } = readStackFile('--stack', directory);
  return async (name, event) => (await request({ baseUrl, key }, 'POST', `/_local/functions/${name}`, event)).json();
}

/** Calls an operation until its last page. */
async function* pagesOf<Page>(call: Call, operation: Paged): AsyncGenerator<Page & { next: Position | null }> {
  for (let { after } = operation; ; ) {
    const page = (await call({ ...operation, after } as Paged)) as Page & { next: Position | null };
    yield page;
    if (page.next === null) return;
    after = page.next;
  }
}

const printed = (value: unknown) => `${visible(JSON.stringify(value, null, 2))}\n`;

/** Continues a file that an earlier run has started. */
async function exportProject(call: Call, id: string, path: string, { say }: Shell): Promise<void> {
  const { position, write } = openExport(path, id);
  let count = 0;
  const pages = pagesOf<{ lines: string[] }>(call, { operation: 'export', id, after: position });
  for await (const { lines, next } of pages) {
    write(lines, next);
    count += lines.length;
    if (next !== null) say(`${count} lines`);
  }
  say(`The export is complete. This run wrote ${count} lines.`);
}

/** The function compares the name. A continued deletion has no name anymore. */
async function deleteProject(call: Call, id: string, given: string | undefined, shell: Shell): Promise<void> {
  const { say, print, wait, ask } = shell;
  const project = (await call({ operation: 'show', id })) as { name?: string };
  const question = `This removes all data of ${id}. Type the name of the project, or pass it with --name: `;
  const name = project.name === undefined ? undefined : (given ?? (await ask(question)));
  for (let said = '', silent = 0; ; ) {
    const progress = (await call({ operation: 'delete', id, name })) as ReturnType<typeof deletionResource>;
    const { items_removed, waits_until } = progress;
    if (progress.state === 'deleted') {
      say(`The project is deleted. ${items_removed} items were removed, and a later pass found none.`);
      return print(printed(progress));
    }
    const line = `Removed ${items_removed} items.${waits_until ? ` Checks again at ${waits_until}.` : ''}`;
    if (line !== said || (!waits_until && ++silent === SILENT_CALLS)) {
      say(line === said ? `${line} Still looking through what the project contained.` : line);
      silent = 0;
    }
    said = line;
    if (waits_until) await wait(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, Date.parse(waits_until) - Date.now())));
  }
}

/** Enables the webhooks of a page of projects per call, because there can be many. A repeated command finds only the others. */
async function enableWebhooks(
  call: Call,
  operation: Extract<ProjectOperation, { operation: 'enable-webhooks' }>,
  { say }: Shell,
): Promise<void> {
  let count = 0;
  for await (const { webhooks } of pagesOf<{ webhooks: number }>(call, operation)) count += webhooks;
  say(
    operation.dry_run
      ? `The command would enable ${count} webhooks.`
      : `Enabled ${count} webhooks. Their recoveries start within 60 seconds.`,
  );
}
