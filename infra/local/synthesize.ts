import type { SettingsInput } from '../settings.ts';
import { createApp } from '../stack.ts';

/** Synthesizes in this process, like `cdk synth` without deployment.json, and returns the directory. */
export function synthesize(outdir: string, settings: SettingsInput = {}, context: object = {}): string {
  return createApp({ outdir, settings, context }).synth().directory;
}
