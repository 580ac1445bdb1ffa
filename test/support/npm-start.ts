import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Demo } from '../../infra/local/demo.ts';
import { afterFile } from './after-file.ts';
import { type Client, eventually, request } from './service.ts';

const NODE: readonly string[] = [process.execPath, 'infra/local/main.ts'];

/** Runs a program of the local stack until the tests of the file have ended. */
export function startProgram([command = '', ...args]: readonly string[], env = process.env) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const ended = once(child, 'exit').then(([code]) => ({ code, output }));
  afterFile(() => child.kill() && ended);
  return {
    ended,
    pid: child.pid as number,
    output: () => output,
    /** Waits until the program is ready or has ended. Returns what it printed. */
    async ready(): Promise<string> {
      await eventually(() => output.includes('Press Ctrl-C') || child.exitCode !== null);
      return output;
    },
    stop(signal: NodeJS.Signals = 'SIGINT') {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs `npm start` in a process until the tests of the file have ended, by default without npm and on free ports. */
export function npmStart(directory: string, options: readonly string[] = [], command = NODE, env = process.env) {
  const program = startProgram([...command, '--port', '0', '--directory', directory, ...options], env); // the last of two values counts
  return {
    ...program,
    /** Waits until the stack is ready. Throws what the process printed if it has ended. */
    async ready() {
      const output = await program.ready();
      const file = join(directory, 'stack.json');
      if (!existsSync(file)) throw new Error(output);
      const stack = JSON.parse(readFileSync(file, 'utf8'));
      const client: Client = (method, path, call = {}) =>
        request(stack.base_url, method, path, { ...call, headers: { Authorization: `Bearer ${stack.keys.live}` } });
      return { output, stack, client };
    },
  };
}

/** Writes the file of a kept demo project, and returns the directory of the kept data. */
export function keepDemo(directory: string, members: Partial<Demo>): string {
  const kept = join(directory, 'kept/memory');
  const project = { id: 'prj_1', name: 'Demo', email: 'demo@example.com' };
  const keys = { admin: '', live: '', test: '', read: '' };
  const demo: Demo = { project, keys, webhook_secret: 'secret', receiver_port: 0, ...members };
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(kept, 'demo.json'), JSON.stringify(demo));
  return kept;
}
