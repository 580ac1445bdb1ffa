import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../infra/project-root.ts';
import { VARIABLES } from '../../support/runtime.ts';
import { type Invariant, PLANTED_BUGS, type PlantedBug } from './planted-bugs.ts';

/** The text of a file with a bug. Throws if its code is not exactly once in the file. */
export function planted({ file, from, to }: PlantedBug, text: string): string {
  const [before = '', after, ...more] = text.split(from);
  if (after === undefined || more.length > 0) throw new Error(`${file} must contain ${from} exactly once`);
  return before + to + after;
}

/** Loads the simulation, with the bug that breaks a promise. Call it once per thread, before another import of the service. */
export async function loadSimulation(broken: Invariant | undefined): Promise<typeof import('./scenario.ts')> {
  Object.assign(process.env, VARIABLES, { POWERTOOLS_METRICS_DISABLED: 'true', POWERTOOLS_LOG_LEVEL: 'SILENT' });
  if (broken === undefined) return import('./scenario.ts');
  const bug = PLANTED_BUGS[broken];
  let isPlanted = false;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (url !== pathToFileURL(join(projectRoot, bug.file)).href) return loaded;
      isPlanted = true;
      return { ...loaded, source: planted(bug, Buffer.from(loaded.source as Uint8Array).toString()) };
    },
  });
  const scenario = await import('./scenario.ts');
  if (!isPlanted) throw new Error(`The simulation does not load ${bug.file}`);
  return scenario;
}
