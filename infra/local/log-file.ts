import { closeSync, openSync, renameSync, writeSync } from 'node:fs';

/**
 * Opens an empty log file and returns a function that writes synchronously. When the file is full, it replaces `path.1`, so both
 * files together have at most twice `maxBytes`. A failed write, for example on a full disk, is ignored.
 */
export function openLog(path: string, maxBytes: number): (text: string) => void {
  let file = openSync(path, 'w');
  let bytes = 0;
  return (text) => {
    try {
      bytes += writeSync(file, text);
      if (bytes < maxBytes) return;
      renameSync(path, `${path}.1`);
      closeSync(file);
      file = openSync(path, 'w');
      bytes = 0;
    } catch {}
  };
}
