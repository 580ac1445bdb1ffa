import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { threadId } from 'node:worker_threads';

export interface CompiledModule<Exports> {
  exports: Exports;
  /** Stores the compiled code, unless it is already stored. */
  keep(): void;
}

const [BEFORE, AFTER] = ['(function (exports, require, module, __filename, __dirname) {', '\n})'];

/**
 * Loads a CommonJS module without dynamic imports, such as a bundle, from a V8 code cache. The cache includes functions that ran
 * before it was stored, which halves the load time. The compile cache of Node contains only code that is compiled before a module
 * runs.
 */
export function loadModule<Exports>(path: string, cache: string): CompiledModule<Exports> {
  const source = readFileSync(path, 'utf8');
  const cacheFile = join(cache, createHash('sha256').update(path).update(source).digest('hex')); // V8 compares only lengths
  const cachedData = readIfAny(cacheFile);
  const script = new Script(BEFORE + source + AFTER, {
    filename: path,
    columnOffset: -BEFORE.length,
    ...(cachedData && { cachedData }),
  });
  const module = { exports: {} as Exports };
  script.runInThisContext().call(module.exports, module.exports, createRequire(path), module, path, dirname(path));
  let isKept = cachedData !== undefined && !script.cachedDataRejected; // for example by another version of V8
  return {
    exports: module.exports,
    keep() {
      if (isKept) return;
      isKept = true;
      const unfinished = `${cacheFile}.${process.pid}.${threadId}`; // other threads can read and write it at the same time
      mkdirSync(cache, { recursive: true });
      writeFileSync(unfinished, script.createCachedData());
      renameSync(unfinished, cacheFile);
    },
  };
}

function readIfAny(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
