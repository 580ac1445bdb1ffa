import { existsSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { UserError } from '../user-error.ts';

/** Where an export continues. The function that exports determines its members. */
export type Position = Record<string, unknown>;

interface Saved {
  id: string;
  position: Position;
  bytes: number;
}

/**
 * The file of an export, or the standard output without a path. `FILE.position` contains where an interrupted export continues.
 * A page that was written without its position is cut off and written again.
 */
export class ExportFile {
  readonly position: Position | undefined;
  lines = 0;
  private readonly id: string;
  private readonly path: string | undefined;
  private readonly descriptor: number;
  private bytes = 0;

  constructor(path: string | undefined, id: string) {
    this.id = id;
    this.path = path;
    const saved = path === undefined ? undefined : savedAt(positionPath(path));
    if (saved && saved.id !== id) throw new UserError(`${path} contains the export of ${saved.id}.`);
    if (path !== undefined && !saved && existsSync(path)) throw new UserError(`${path} exists already.`);
    if (path !== undefined && saved) truncateSync(path, saved.bytes);
    this.position = saved?.position;
    this.bytes = saved?.bytes ?? 0;
    this.descriptor = path === undefined ? process.stdout.fd : openSync(path, 'a', 0o600);
  }

  /** Appends a page. `next` is `null` for the last one. */
  write(lines: readonly string[], next: Position | null): void {
    const text = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    for (let written = 0; written < text.length; ) written += writeSync(this.descriptor, text, written);
    this.lines += lines.length;
    this.bytes += text.length;
    if (this.path === undefined) return;
    const path = positionPath(this.path);
    if (next === null) rmSync(path, { force: true });
    else writeFileSync(path, JSON.stringify({ id: this.id, position: next, bytes: this.bytes } satisfies Saved));
  }
}

const positionPath = (path: string): string => `${path}.position`;

function savedAt(path: string): Saved | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Saved) : undefined;
}
