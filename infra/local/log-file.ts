import { closeSync, openSync, renameSync, writeSync } from 'node:fs';

/**
 * A file that begins empty and takes text at once. When it is full it is kept under another name, in place of the one before:
 * `path` and `path.1` have at most twice `maxBytes`. What cannot be written, for a full disk, is lost and ends nothing.
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
