import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { StartError } from './services/database.ts';

/** Synthesizes in a process of its own: the 300 MB that the CDK takes are given back, and the start goes on meanwhile. */
export async function synthesizeApart(directory: string): Promise<void> {
  const script = fileURLToPath(new URL('./synthesize.ts', import.meta.url));
  const child = spawn(process.execPath, [script, directory], { stdio: ['ignore', 'inherit', 'inherit'] });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const [code] = await once(child, 'exit');
  process.off('exit', kill);
  if (code !== 0) throw new StartError('The stack could not be synthesized; the reason is above.');
}
