import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectRoot } from '../../infra/project-root.ts';
import type { SettingsInput } from '../../infra/settings.ts';
import { temporaryDirectory } from '../support/after-file.ts';
import type { Emulator } from './emulator.ts';

export const STACK = 'DocumentSyncService';
const SOURCES = ['functions', 'infra', 'lib', 'cdk.json', 'package.json', 'tsconfig.json', 'CHANGELOG.md'];

export interface Ended {
  status: number | null;
  stdout: string;
  /** Everything that the command printed. */
  output: string;
}

export type Checkout = ReturnType<typeof checkOut>;

/** Copies the source of this checkout, so that its `deployment.json` is not changed. The commands use the account of the emulator. */
export function checkOut({ variables }: { variables: Partial<Emulator['variables']> }) {
  const directory = temporaryDirectory();
  for (const name of SOURCES) cpSync(join(projectRoot, name), join(directory, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
  let assemblies = 0;

  async function run(command: string, ...args: string[]): Promise<Ended> {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, CI: 'true', CDK_DISABLE_VERSION_CHECK: '1', NO_COLOR: '1', ...variables };
    const child = spawn(command, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [status] = await ended;
    return { status, stdout, output: stdout + stderr };
  }

  /** Runs a command that must succeed. Returns its results. */
  async function succeed(command: string, ...args: string[]): Promise<string> {
    const { status, stdout, output } = await run(command, ...args);
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${output}`);
    return stdout;
  }

  return {
    directory,
    run,
    succeed,
    ops: (...args: string[]) => succeed('npm', 'run', '--silent', 'ops', '--', ...args),
    /** Synthesizes the stack with a `deployment.json`, or without one. Returns the directory of the assembly. */
    async synthesize(settings: SettingsInput | undefined): Promise<string> {
      const file = join(directory, 'deployment.json');
      rmSync(file, { force: true });
      if (settings) writeFileSync(file, JSON.stringify({ senderEmail: 'webhooks@example.com', ...settings }));
      const assembly = join(directory, `assembly-${++assemblies}`);
      await succeed('npx', 'cdk', 'synth', '--quiet', '--output', assembly);
      return assembly;
    },
    bootstrap: () => succeed('npx', 'cdk', 'bootstrap'),
    deploy: (assembly: string, ...args: string[]) =>
      run('npx', 'cdk', 'deploy', '--app', assembly, '--require-approval', 'never', ...args),
  };
}
