import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { afterFile } from '../support/after-file.ts';
import { freePort } from '../support/endpoints.ts';
import { checkOut } from './checkout.ts';
import { PYTHON } from './emulator.ts';

const [, section = ''] = readFileSync('infra/README.md', 'utf8').split('## Try the deployment without an account\n');
const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];

it('leads a reader with five commands to the dashboard', async () => {
  const [install, ...commands] = block.trim().split('\n');
  expect(install).toContain('-r infra/emulator/requirements.txt');
  expect(commands).toHaveLength(4);
  const { directory } = checkOut({ variables: {} });
  mkdirSync(join(directory, '.local'));
  symlinkSync(dirname(dirname(PYTHON)), join(directory, '.local/emulator')); // as the first command creates it
  const port = String(await freePort());
  const { PATH, HOME } = process.env;
  const child = spawn('bash', ['-c', commands.join('\n').replaceAll('4566', port)], {
    cwd: directory,
    env: { PATH, HOME, GATEWAY_PORT: port, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // in its own group, because the emulator continues after it
  });
  afterFile(() => process.kill(-(child.pid ?? 0)));
  const ended = once(child, 'exit');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const output = stdout + stderr;
  expect([await ended, output]).toEqual([[0, null], expect.stringContaining('svc_admin_')]);
  const [, id] = /DashboardUrl = https:\/\/(\w+)\.execute-api/.exec(output) ?? [];
  const page = await fetch(`http://127.0.0.1:${port}/_aws/execute-api/${id}/live/dashboard`);
  expect(await page.text()).toContain('<title>Dashboard</title>');
});
