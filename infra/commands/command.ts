import { createInterface } from 'node:readline/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { visible } from '../../lib/printable.ts';
import { UserError } from '../user-error.ts';
import { awsReason } from './aws-reason.ts';
import { fitted } from './fitted.ts';
import { type Option, type Parsed, parse, table, type Usage } from './usage.ts';

/** What a command uses of its process and of AWS. Tests replace these members. */
export interface Shell {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The file with the settings of the deployment. The one of the checkout by default. */
  readonly deploymentFile?: string;
  /** The width of the terminal, which the help fits. */
  readonly columns: number;
  /** Writes to the standard output. */
  print(text: string): void;
  /** Writes a line that is not a result to the standard error. */
  say(line: string): void;
  /** Asks the user. Throws `UserError` if there is no terminal, or if the user presses Ctrl-C. */
  ask(question: string): Promise<string>;
  wait(ms: number): Promise<unknown>;
  /** Creates a client of the AWS SDK. Its `send` is the seam between the commands and AWS. */
  client<Type extends object>(type: new (settings: { region?: string }) => Type): Type;
}

/** A program, such as `npm start`, or a part of one, such as `projects` of `npm run ops`. */
export interface Command {
  readonly name: string;
  readonly about: string;
  /** Returns the exit status. `line` is the start of the command line in the help. */
  execute(args: readonly string[], shell: Shell, line?: string): Promise<number>;
}

/** Creates a command. `run` can return an exit status. The command prints a mistake of the user as one sentence. */
export const command = <const Options extends Record<string, Option>>(
  usage: Usage<Options>,
  run: (parsed: Parsed<Options>, shell: Shell) => Promise<unknown>,
): Command => ({
  name: usage.command,
  about: usage.about.split('\n')[0] ?? '',
  async execute(args, shell, line = usage.command) {
    try {
      const parsed = parse({ ...usage, command: line }, args);
      const status = typeof parsed === 'string' ? shell.print(fitted(parsed, shell.columns)) : await run(parsed, shell);
      return typeof status === 'number' ? status : 0;
    } catch (error) {
      const { message, stack = message } = error as Error;
      shell.say(visible(error instanceof UserError ? message : (awsReason(error) ?? stack)));
      return 1;
    }
  },
});

/** A command that runs the one named by its first argument. */
export const group = (name: string, about: string, commands: readonly Command[]): Command => ({
  name,
  about,
  async execute([first, ...args], shell) {
    const found = commands.find((each) => each.name === first);
    if (found) return found.execute(args, shell, `${name} ${first}`);
    if (first === '--help' || first === '-h') {
      const rows = table(commands.map((each) => [each.name, each.about]));
      const help = `Usage: ${name} COMMAND [options]\n\n${about}\n\n${rows}\n\nRun \`${name} COMMAND --help\` for the options.\n`;
      shell.print(fitted(help, shell.columns));
      return 0;
    }
    const names = commands.map((each) => each.name).join(', ');
    shell.say(`Name a command: ${names}. Run \`${name} --help\` for a description.`);
    return 1;
  },
});

const { env: variables } = process;

/** The width of a terminal that does not state its own, and of a file or a pipe. */
const USUAL_COLUMNS = 80;

const processShell: Shell = {
  variables,
  // Shells set the variable without exporting it, so users who export it want this width.
  columns: Number(variables.COLUMNS) || process.stdout.columns || USUAL_COLUMNS,
  print: (text) => void process.stdout.write(text),
  say: (line) => void process.stderr.write(`${line}\n`),
  async ask(question) {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const end = new AbortController();
    terminal.once('close', () => end.abort()); // Ctrl-C, Ctrl-D, or no terminal
    const answer = terminal.question(question, { signal: end.signal }).catch(() => {
      throw new UserError('The question has no answer, so nothing was changed.');
    });
    return answer.finally(() => terminal.close());
  },
  wait,
  client(type) {
    for (const [name, value = ''] of Object.entries(variables))
      if (name.startsWith('AWS_ENDPOINT_URL') && !URL.canParse(value)) throw new UserError(`${name} must be a URL.`);
    // Unlike the AWS CLI and the CDK, the SDK does not read AWS_DEFAULT_REGION.
    return new type(
      variables.AWS_REGION || !variables.AWS_DEFAULT_REGION ? {} : { region: variables.AWS_DEFAULT_REGION },
    );
  },
};

/** Runs a command with the arguments of this process, and ends the process after an error. */
export async function runCommand(command: Command): Promise<void> {
  process.stdout.once('error', () => process.exit(1)); // for example, `head` closed the pipe
  // An empty variable is no value for the AWS CLI, but the SDK would use it.
  for (const name of Object.keys(variables)) if (name.startsWith('AWS_') && !variables[name]) delete variables[name];
  bypassProxy();
  const status = await command.execute(process.argv.slice(2), processShell);
  if (status !== 0) process.exit(status);
}

/**
 * Keeps requests to this machine away from a proxy, which cannot reach its loopback. With `NODE_USE_ENV_PROXY`, `fetch` reads the variables
 * for each request. Processes that the command starts inherit them.
 */
function bypassProxy(): void {
  const given = variables.no_proxy ?? variables.NO_PROXY;
  if (given === '*') return;
  variables.no_proxy = [given, '127.0.0.1', 'localhost', '[::1]'].filter(Boolean).join();
  variables.NO_PROXY = variables.no_proxy;
}
