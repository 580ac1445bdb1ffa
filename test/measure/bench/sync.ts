import { OVERLAP_MS } from '../../../lib/documents/change-log.ts';
import { MAX_KNOWN, MAX_PUSHES } from '../../../lib/documents/sync.ts';
import { posting, proxyEvent } from '../../unit/http/builders.ts';
import { Meter } from './cost/meter.ts';
import { functionNamed, startFunctions } from './cpu/functions.ts';
import { median } from './median.ts';
import { createProject } from './project.ts';
import { startBench } from './stack.ts';

const COUNTS = [100, 1000, 10_000];
const BYTES = 1000;
const CHANGES = 10;
/** The measured cycles of each kind, after one that warms up. */
const REPEATS = 5;

interface Page {
  changes: { document_key: string; revision: number }[];
  cursor: string | null;
  checkpoint: string | null;
}
interface Cycle {
  requests: number;
  readUnits: number;
  bytes: number;
  cpuMs: number;
  changes: Page['changes'];
  checkpoint: string;
}

/**
 * Measures cycles of the bundle of the sync over documents of 1 KB: the first one, and later ones after no change and after ten
 * changes, with the revisions of all documents in `known` where they fit, and with a checkpoint.
 */
export async function measureSync(assembly: string): Promise<Record<string, object>> {
  const { stack, stop } = await startBench(assembly);
  for (const mapping of stack.mappings.values()) mapping.Enabled = false; // their reads are not those of the sync
  stack.iam.isPermissive = true; // the process has no role of the stack
  const meter = new Meter(stack);
  const { path, variables } = functionNamed(stack, 'Documents');
  const { child, invoke } = startFunctions({ ...variables, ...stack.environment });

  /** Runs the pages of a cycle of a project. */
  async function cycle(projectId: string, request: object): Promise<Cycle> {
    const authorizer = { project_id: projectId, key_id: 'key_bench', caller: 'live' };
    const total: Cycle = { requests: 0, readUnits: 0, bytes: 0, cpuMs: 0, changes: [], checkpoint: '' };
    meter.take();
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const body = { node_id: 'bench', pattern: '*', push: [], limit: 100, ...request, ...(cursor && { cursor }) };
      const event = proxyEvent({ resource: '/v1/sync', authorizer, ...posting(body) });
      const { cpuMs, body: text = '' } = await invoke({ path, event });
      const page = JSON.parse(text) as Page;
      if (!page.changes) throw new Error(text);
      total.requests++;
      total.bytes += Buffer.byteLength(text);
      total.cpuMs += cpuMs;
      total.changes.push(...page.changes);
      total.checkpoint = page.checkpoint ?? '';
      cursor = page.cursor;
    }
    return { ...total, readUnits: meter.take().readUnits };
  }

  const write = async (projectId: string, keys: readonly string[], fields: object) => {
    for (let i = 0; i < keys.length; i += MAX_PUSHES) {
      const push = keys
        .slice(i, i + MAX_PUSHES)
        .map((document_key) => ({ op: 'patch', document_key, base_revision: 0, fields }));
      await cycle(projectId, { push, pattern: 'none' });
    }
  };

  const measured: [name: string, Cycle][] = [];
  const projects: { id: string; count: number; keys: string[] }[] = [];
  for (const count of COUNTS) {
    const { id } = await createProject(stack);
    const keys = Array.from({ length: count }, (_, i) => `org:acme:doc-${String(i).padStart(5, '0')}`);
    await write(id, keys, { text: 'a'.repeat(BYTES) });
    projects.push({ id, count, keys });
  }
  // Documents that changed in the minute before a checkpoint appear again.
  await new Promise((resolve) => setTimeout(resolve, OVERLAP_MS));
  for (const { id, count, keys } of projects) {
    const add = async (name: string, request: object, repeats = REPEATS) => {
      const first = await cycle(id, request);
      const times: number[] = [];
      for (let i = 0; i < repeats; i++) times.push((await cycle(id, request)).cpuMs);
      measured.push([`${count} documents, ${name}`, { ...first, cpuMs: median(times) }]);
      return first;
    };
    const { changes, checkpoint } = await add('first cycle', {}, 1);
    const known = Object.fromEntries(changes.map(({ document_key, revision }) => [document_key, revision]));
    const later = async (name: string) => {
      if (count <= MAX_KNOWN) await add(`${name}, known`, { known });
      await add(`${name}, checkpoint`, { since: checkpoint });
    };
    await later('unchanged');
    await write(
      id,
      keys.filter((_, i) => i % (count / CHANGES) === 0),
      { changed: true },
    );
    await later(`${CHANGES} changed`);
  }
  child.kill();
  await stop();
  const unit = measured.find(([name]) => name.endsWith('unchanged, checkpoint'))?.[1].cpuMs ?? Number.NaN;
  return Object.fromEntries(
    measured.map(([name, { requests, readUnits, bytes, cpuMs, changes }]) => [
      name,
      { requests, changes: changes.length, readUnits, bytes, cpu: Number((cpuMs / unit).toPrecision(2)) },
    ]),
  );
}
