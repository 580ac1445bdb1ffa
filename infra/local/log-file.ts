import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { onPath } from '../user-error.ts';

/**
 * Opens an empty log file and returns a function that writes to it. A full file becomes `path.1` in place of an earlier one, so the
 * two files have at most twice `maxBytes`. A failed write is ignored, because a full disk does not end the stack.
 */
export function openLog(path: string, maxBytes: number): (text: string) => void {
  const open = () => openSync(path, 'w');
  let file = onPath(path, open);
  let bytes = 0;
  return (text) => {
    try {
      if (bytes > 0 && bytes + Buffer.byteLength(text) > maxBytes) {
        renameSync(path, `${path}.1`);
        closeSync(file);
        file = open();
        bytes = 0;
      }
      bytes += writeSync(file, text);
    } catch {}
  };
}
