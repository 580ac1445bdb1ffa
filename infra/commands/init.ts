import { existsSync } from 'node:fs';
import {
  DEPLOYMENT_FILE,
  describedSettings,
  readDeployment,
  type SettingsInput,
  updateDeployment,
} from '../settings.ts';
import { UserError } from '../user-error.ts';
import { command, runCommand } from './command.ts';
import { table } from './usage.ts';

export const init = command(
  {
    command: 'npm run init --',
    about:
      'Writes deployment.json with the settings of a deployment, or changes settings in it. A new file needs senderEmail.',
    options: {
      set: {
        type: 'string',
        value: 'NAME=VALUE',
        multiple: true,
        about: 'a setting, such as alarms.email=a@example.com',
      },
    },
    notes: `A group replaces the whole group. Settings:\n\n${table(describedSettings().map(([name, description = '']) => [name, description]))}`,
  },
  async ({ values: { set = [] } }, { print, deploymentFile: file = DEPLOYMENT_FILE }) => {
    const isNew = !existsSync(file);
    updateDeployment(settingsFrom(set), file);
    const settings = readDeployment(file);
    const rows = describedSettings().map(
      ([name, description]) => `${name}: ${JSON.stringify(settings?.[name]) ?? 'not set'}\n  ${description}`,
    );
    print(`${rows.join('\n')}\n\n${isNew ? 'Wrote' : 'Changed'} ${file}. To review the changes of a deployment, run
npx cdk diff. Keep the file, for example in a fork of the repository, because every deployment needs it.\n`);
  },
);

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

if (import.meta.main) await runCommand(init);
