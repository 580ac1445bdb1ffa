import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';

/** The file is written anew when it has so many lines more than twice those that count. */
const MAX_OLD_LINES = 10_000;

/**
 * A map that a file keeps. Every change is a line that is written before the change is made, so that a killed process loses
 * none; of what the machine had not yet written to its disk, a power failure can take the end. Values are JSON.
 */
export class KeptMap<Value> extends Map<string, Value> {
  private readonly path: string;
  private file: number;
  private lines = 0;

  constructor(path: string) {
    super();
    this.path = path;
    for (const [key, value] of readChanges<Value>(path)) {
      if (value === undefined) super.delete(key);
      else super.set(key, value);
    }
    this.file = this.rewrite();
  }

  override set(key: string, value: Value): this {
    this.append([key, value]);
    return super.set(key, value);
  }

  override delete(key: string): boolean {
    if (this.has(key)) this.append([key]);
    return super.delete(key);
  }

  close(): void {
    closeSync(this.file);
  }

  private append(change: Change<Value>): void {
    if (this.lines > 2 * this.size + MAX_OLD_LINES) {
      closeSync(this.file);
      this.file = this.rewrite();
    }
    writeSync(this.file, lineOf(change));
    this.lines++;
  }

  private rewrite(): number {
    const fresh = `${this.path}.new`;
    writeFileSync(fresh, [...this].map(lineOf).join(''), { mode: 0o600 });
    renameSync(fresh, this.path);
    this.lines = this.size;
    return openSync(this.path, 'a');
  }
}

/** A key and its value; without one, the key is deleted. */
type Change<Value> = [key: string, value?: Value];

// A line begins the line, so that one that was cut off spoils no other.
const lineOf = (change: Change<unknown>): string => `\n${JSON.stringify(change)}`;

function readChanges<Value>(path: string): Change<Value>[] {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Change<Value>];
    } catch {
      return []; // cut off
    }
  });
}
