import { group, runCommand } from './command.ts';
import { discard } from './discard.ts';
import { projects } from './projects.ts';
import { replay } from './replay.ts';
import { restore } from './restore.ts';
import { smoke } from './smoke/smoke.ts';

const ABOUT = 'Operates a deployment (--stack NAME). Without --stack, projects and smoke use the running local stack.';
export const ops = group('npm run ops --', ABOUT, [projects, restore, replay, smoke, discard]);

if (import.meta.main) await runCommand(ops);
