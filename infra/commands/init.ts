import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import {
  DEPLOYMENT_FILE,
  describedSettings,
  readDeployment,
  type SettingsInput,
  updateDeployment,
} from '../settings.ts';
import { UserError } from '../user-error.ts';
import { command, runCommand } from './command.ts';

const USAGE = {
  command: 'npm run init',
  about: `Writes deployment.json with the settings of a deployment, or changes settings in it. A new file needs senderEmail.
In a terminal, the command asks for the sender and for the receiver of alarms.`,
  options: {
    set: {
      type: 'string',
      value: 'NAME=VALUE',
      multiple: true,
      about:
        'a setting, such as senderEmail=webhooks@example.com or domain.name=api.example.com. A group replaces the whole group',
    },
    file: { type: 'string', value: 'PATH', about: 'another file', default: DEPLOYMENT_FILE },
  },
  notes: `Settings:\n\n${describedSettings()
    .map(([name, description]) => `  ${name}: ${description}`)
    .join('\n')}`,
} as const;

/** The questions for a new file. The second one has no answer by default. */
const QUESTIONS = [
  ['senderEmail', 'Sender of emails, which SES has verified: '],
  ['alarms.email', 'Receiver of alarms (empty for none): '],
] as const;

/** Reads settings such as `domain.name=api.example.com`. The schema of the file checks them. Throws `UserError`. */
function settingsFrom(assignments: readonly string[]): Partial<SettingsInput> {
  const settings: Record<string, unknown> = {};
  for (const assignment of assignments) {
    const [, group, member, text = ''] = /^(\w+)(?:\.(\w+))?=(.+)$/.exec(assignment) ?? [];
    if (!group) throw new UserError(`--set ${assignment} is not NAME=VALUE.`);
    const value = /^(\d+$|\[|\{)/.test(text) ? jsonOf(text, assignment) : text;
    settings[group] = member ? { ...(settings[group] as object | undefined), [member]: value } : value;
  }
  return settings;
}

function jsonOf(text: string, assignment: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UserError(`--set ${assignment} is not valid JSON.`);
  }
}

async function ask(given: readonly string[]): Promise<string[]> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answers: string[] = [];
  for (const [name, question] of QUESTIONS) {
    if (given.some((each) => each.startsWith(`${name.split('.')[0]}`))) continue;
    const answer = (await terminal.question(question)).trim();
    if (answer) answers.push(`${name}=${answer}`);
  }
  terminal.close();
  return answers;
}

await runCommand(
  command(USAGE, async ({ values: { set: given = [], file } }) => {
    const isNew = !existsSync(file);
    const answers = isNew && process.stdin.isTTY ? await ask(given) : [];
    updateDeployment(settingsFrom([...given, ...answers]), file);
    const settings = readDeployment(file);
    const rows = describedSettings().map(([name, description]) => {
      const value = settings?.[name];
      return `${name}: ${value === undefined ? 'not set' : JSON.stringify(value)}\n  ${description}`;
    });
    process.stdout.write(`${rows.join('\n')}\n\n${isNew ? 'Wrote' : 'Changed'} ${file}. To review the changes of a deployment, run
npx cdk diff. Keep the file, for example in a fork of the repository, because every deployment needs it.\n`);
  }),
);
