import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';
import type { SettingsInput } from '../settings.ts';
import { createApp } from '../stack.ts';

/** Synthesizes in this process, like `cdk synth` without deployment.json, and returns the directory. */
export function synthesize(outdir: string, settings: SettingsInput = {}, context: object = {}): string {
  const { context: configured } = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8'));
  return createApp({ outdir, settings, context: { ...configured, ...context } }).synth().directory;
}
