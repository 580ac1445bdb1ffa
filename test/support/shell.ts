import type { Command, Shell } from '../../infra/commands/command.ts';
import { UserError } from '../../infra/user-error.ts';

/** Performs operations of AWS by name, such as `SendMessage`, with the input of a command. An operation without a performer fails. */
// biome-ignore lint/suspicious/noExplicitAny: each performer knows its operation
export type Performers = Readonly<Record<string, (input: any, command: any) => unknown>>;

/** The largest payload of an invocation (Lambda Developer Guide, "Lambda quotas"). */
const MAX_PAYLOAD_BYTES = 6_291_456;

/**
 * Runs a command in this process, without credentials, a terminal or AWS. `performers` replace the `send` of every client, and
 * `members` replace those of the shell.
 */
export async function ran(
  command: Command,
  args: readonly string[],
  performers: Performers = {},
  members: Partial<Shell> = {},
) {
  let [stdout, stderr] = ['', ''];
  const shell: Shell = {
    variables: {},
    columns: 1000, // no line is broken
    deploymentFile: '/nowhere/deployment.json',
    print(text) {
      stdout += text;
    },
    say(line) {
      stderr += `${line}\n`;
    },
    ask: async () => {
      throw new UserError('There is no terminal.');
    },
    wait: async () => {},
    client(type) {
      const client = new type({ region: 'eu-central-1' });
      return Object.assign(client, {
        async send(command: { constructor: { name: string }; input: { Payload?: string } }) {
          const name = command.constructor.name.replace(/Command$/, '');
          if (Buffer.byteLength(command.input.Payload ?? '') > MAX_PAYLOAD_BYTES)
            throw new Error('RequestEntityTooLarge');
          const performer = performers[name];
          if (!performer) throw new Error(`The test performs no ${name}`);
          return performer(command.input, command);
        },
      });
    },
    ...members,
  };
  const status = await command.execute(args, shell);
  return { status, stdout, stderr };
}
