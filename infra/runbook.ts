import { spawnSync } from 'node:child_process';
import { projectRoot } from './project-root.ts';

const PATH = 'infra/RUNBOOK.md';

/** The URL of the runbook in the repository with this remote, or its path in the checkout without one. Contains no credentials. */
export function runbookOf(remote: string): string {
  const [, scheme, host, port = '', repository] =
    /^(?:(https|ssh):\/\/(?:[^/]*@)?|[^@/:]+@)([\w.-]+)(?:(:\d+)\/|[:/])(.+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return host ? `https://${host}${scheme === 'https' ? port : ''}/${repository}/blob/HEAD/${PATH}` : PATH;
}

// There is no output without git, or if the checkout is an archive or has no such remote.
const { stdout } = spawnSync('git', ['-C', projectRoot, 'remote', 'get-url', 'origin'], { encoding: 'utf8' });

/** For the descriptions of alarms, which are read outside the checkout. */
export const RUNBOOK = runbookOf(stdout?.trim() ?? '');
