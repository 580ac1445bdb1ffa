import type { Command, Shell } from '../../infra/commands/command.ts';

/** Performs operations of AWS by name, such as `SendMessage`. An operation without a performer fails. */
// biome-ignore lint/suspicious/noExplicitAny: each performer knows the input of its operation
export type Performers = Readonly<Record<string, (input: any) => unknown>>;

export interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

/** A shell without credentials, a terminal or AWS. `performers` replace the `send` of every client. */
function testShell(performers: Performers = {}, members: Partial<Shell> = {}) {
  const shell = {
    stdout: '',
    stderr: '',
    variables: {},
    deploymentFile: '/nowhere/deployment.json',
    print(text: string) {
      shell.stdout += text;
    },
    say(line: string) {
      shell.stderr += `${line}
`;
    },
    ask: async (): Promise<string> => {
      throw new Error('There is no terminal');
    },
    wait: async () => {},
    client<Type extends object>(type: new (settings: object) => Type): Type {
      const client = new type({ region: 'eu-central-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
      return Object.assign(client, {
        async send(command: { constructor: { name: string }; input: object }) {
          const name = command.constructor.name.replace(/Command$/, '');
          const performer = performers[name];
          if (!performer) throw new Error(`The test performs no ${name}`);
          return performer(command.input);
        },
      });
    },
    ...members,
  };
  return shell;
}

/** Runs a command in this process. */
export async function ran(
  command: Command,
  args: readonly string[],
  performers?: Performers,
  members?: Partial<Shell>,
): Promise<Ran> {
  const shell = testShell(performers, members);
  const status = await command.execute(args, shell);
  return { status, stdout: shell.stdout, stderr: shell.stderr };
}
