import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';
import { createApp } from '../service.ts';

/** Synthesizes in this process, like `cdk synth`, and returns the directory. */
export function synthesize(outdir: string, context: Record<string, unknown> = {}): string {
  const { context: configured } = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8'));
  return createApp({ outdir, context: { ...configured, ...context } }).synth().directory;
}
