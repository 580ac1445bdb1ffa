// Moves the time of the functions, as `sitecustomize.py` moves that of the emulator. NODE_OPTIONS loads this file.
import { openSync, readSync } from 'node:fs';

const file = openSync(process.env.CLOCK_FILE, 'r');
const bytes = Buffer.alloc(8);
const RealDate = Date;

function now() {
  readSync(file, bytes, 0, 8, 0);
  return RealDate.now() + bytes.readDoubleLE();
}

globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [now()] : args));
  }
  static now() {
    return now();
  }
};
