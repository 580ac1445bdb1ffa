import {
  appendFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import * as v from 'valibot';
import { onPath, UserError } from '../user-error.ts';

/** Where an export continues. The function that exports determines its members. */
export type Position = Record<string, unknown>;

const Saved = v.object({
  id: v.string(),
  /** Before the first page, there is none. */
  position: v.optional(v.record(v.string(), v.unknown())),
  bytes: v.pipe(v.number(), v.integer(), v.minValue(0)),
});

/**
 * Opens the file of an export, which only its owner can read. `FILE.position` contains where an interrupted export continues. A page
 * that was written without its position is cut off and written again. Throws `UserError`, also when another process writes the file.
 */
export function openExport(path: string, id: string) {
  return onPath(path, () => {
    const saved = savedFor(path);
    if (saved?.position && saved.id !== id) throw new UserError(`${path} contains the export of ${saved.id}.`);
    if (!saved && existsSync(path)) throw new UserError(`${path} exists already.`);
    let bytes = saved?.bytes ?? 0;
    const save = (position?: Position): void => {
      const file: v.InferOutput<typeof Saved> = { id, position, bytes };
      writeFileSync(`${positionPath(path)}.new`, JSON.stringify(file), { mode: 0o600 });
      renameSync(`${positionPath(path)}.new`, positionPath(path)); // a crash leaves the old or the new position
    };
    if (!saved) save(); // before the file, which is not continued without a position
    const descriptor = openSync(path, 'a', 0o600);
    ftruncateSync(descriptor, bytes);
    const requireAlone = (): void => {
      if (fstatSync(descriptor).size === bytes) return;
      throw new UserError(`Another process writes ${path}. When it has ended, repeat the command.`);
    };
    /** Appends a page. `next` is `null` for the last one. */
    const write = (lines: readonly string[], next: Position | null): void =>
      onPath(path, () => {
        const page = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        requireAlone();
        appendFileSync(descriptor, page);
        bytes += page.length;
        requireAlone(); // again, because two processes can pass the first check
        if (next === null) rmSync(positionPath(path), { force: true });
        else save(next);
      });
    return { position: saved?.position, write };
  });
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
