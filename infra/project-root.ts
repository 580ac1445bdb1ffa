import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('..', import.meta.url));
/** For what the local stack writes. */
export const localDirectory = join(projectRoot, '.local');
/** For compiled code, of every process of the local stack. */
export const compileCache = join(localDirectory, 'compile-cache');
