import {
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import * as v from 'valibot';
import { visible } from '../../lib/printable.ts';
import { onPath, UserError } from '../user-error.ts';
import type { Shell } from './command.ts';

/** Where an export continues. The function that exports determines its members. */
export type Position = Record<string, unknown>;

const Saved = v.object({
  id: v.string(),
  position: v.record(v.string(), v.unknown()),
  bytes: v.pipe(v.number(), v.integer(), v.minValue(0)),
});

/**
 * The file of an export, or the standard output without a path. `FILE.position` contains where an interrupted export continues.
 * A page that was written without its position is cut off and written again.
 */
export class ExportFile {
  readonly position: Position | undefined;
  lines = 0;
  private readonly id: string;
  private readonly path: string | undefined;
  private readonly descriptor: number | undefined;
  private readonly shell: Pick<Shell, 'print' | 'isTerminal'>;
  private bytes = 0;

  constructor(path: string | undefined, id: string, shell: Pick<Shell, 'print' | 'isTerminal'>) {
    this.id = id;
    this.shell = shell;
    this.path = path;
    const saved = path === undefined ? undefined : onPath(path, () => savedFor(path));
    if (saved && saved.id !== id) throw new UserError(`${path} contains the export of ${saved.id}.`);
    if (path !== undefined && !saved && existsSync(path)) throw new UserError(`${path} exists already.`);
    this.position = saved?.position;
    this.bytes = saved?.bytes ?? 0;
    if (path !== undefined) this.descriptor = onPath(path, () => openSync(path, 'a', 0o600));
    if (saved && this.descriptor !== undefined) ftruncateSync(this.descriptor, saved.bytes);
  }

  /** Appends a page. `next` is `null` for the last one. */
  write(lines: readonly string[], next: Position | null): void {
    const page = lines.map((line) => `${line}\n`).join('');
    this.lines += lines.length;
    const path = this.path;
    const descriptor = this.descriptor;
    // A terminal executes control characters. A file or a pipe gets the exact text.
    if (path === undefined || descriptor === undefined) this.shell.print(this.shell.isTerminal ? visible(page) : page);
    else onPath(path, () => this.append(path, descriptor, page, next));
  }

  private append(path: string, descriptor: number, page: string, next: Position | null): void {
    const bytes = Buffer.from(page);
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
    this.bytes += bytes.length;
    const position = positionPath(path);
    if (next === null) {
      rmSync(position, { force: true });
      return;
    }
    const saved: v.InferOutput<typeof Saved> = { id: this.id, position: next, bytes: this.bytes };
    writeFileSync(`${position}.new`, JSON.stringify(saved), { mode: 0o600 });
    renameSync(`${position}.new`, position); // a crash leaves the old or the new position
  }
}

const positionPath = (path: string): string => `${path}.position`;

/** The saved position of an interrupted export. Throws if the files do not belong together. */
function savedFor(path: string): v.InferOutput<typeof Saved> | undefined {
  if (!existsSync(positionPath(path))) return undefined;
  const text = readFileSync(positionPath(path), 'utf8');
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), Saved), text);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (success && output.bytes <= size) return output;
  throw new UserError(`${path} cannot be continued. Delete it and ${positionPath(path)}, and export again.`);
}
