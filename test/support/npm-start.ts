import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterFile } from './after-file.ts';
import { type Client, eventually, request } from './service.ts';

const NODE: readonly string[] = [process.execPath, 'infra/local/main.ts'];

/** Runs `npm start` in a process until the tests of the file have ended, by default without npm and on free ports. */
export function npmStart(directory: string, options: readonly string[] = [], [command = '', ...before] = NODE) {
  const args = [...before, '--port', '0', '--directory', directory, ...options]; // the last of two values counts
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
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
    /** Waits until the stack is ready. Throws what the process printed if it has ended. */
    async ready() {
      await eventually(() => output.includes('Press Ctrl-C') || child.exitCode !== null);
      const file = join(directory, 'stack.json');
      if (!existsSync(file)) throw new Error(output);
      const stack = JSON.parse(readFileSync(file, 'utf8'));
      const client: Client = (method, path, call = {}) =>
        request(stack.base_url, method, path, { ...call, headers: { Authorization: `Bearer ${stack.keys.live}` } });
      return { output, stack, client };
    },
    stop(signal: NodeJS.Signals = 'SIGINT') {
      child.kill(signal);
      return ended;
    },
  };
}
