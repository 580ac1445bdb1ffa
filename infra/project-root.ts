import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('..', import.meta.url));
/** The directory for files of the local stack. */
export const localDirectory = join(projectRoot, '.local');
/** The compile cache of every process of the local stack. */
export const compileCache = join(localDirectory, 'compile-cache');
