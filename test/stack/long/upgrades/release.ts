import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../../infra/project-root.ts';
import { UserError } from '../../../../infra/user-error.ts';

export interface Release {
  version: string;
  /** The layout of its table. This version shares the table of a release with the same layout. */
  layout: number;
  commit: string;
  /** The parameters of the release that enable every option which this version also has. */
  everyOption: Record<string, string>;
}

/** All releases, oldest first. */
export const releases: Release[] = JSON.parse(readFileSync(new URL('releases.json', import.meta.url), 'utf8'));

/** The template of a release with these context parameters. The bundles of its functions are excluded by default. */
export interface ReleaseSource {
  synthesize(context?: Record<string, unknown>): string;
  remove(): void;
}

/**
 * Extracts the source of a release from git, and synthesizes it like `cdk synth`, with the packages of this checkout. A clone
 * needs the commits and no tags. Throws if a shallow clone lacks the commit.
 */
export function extractRelease({ version, commit }: Release): ReleaseSource {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: projectRoot, maxBuffer: 2 ** 28 });
  if (git('cat-file', '-e', `${commit}^{commit}`).status !== 0) {
    throw new UserError(
      `This clone lacks commit ${commit} of release ${version}. Fetch it with: git fetch --unshallow, or git fetch origin ${commit}`,
    );
  }
  const directory = mkdtempSync(join(tmpdir(), `release-${version}-`));
  const source = join(directory, 'source');
  mkdirSync(source);
  const paths = ['functions', 'infra', 'lib', 'cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json'];
  execFileSync('tar', ['-x', '-C', source], { input: git('archive', commit, ...paths).stdout });
  symlinkSync(join(projectRoot, 'node_modules'), join(source, 'node_modules'));
  const { app, context } = JSON.parse(readFileSync(join(source, 'cdk.json'), 'utf8'));
  return {
    synthesize(settings = {}) {
      const outdir = mkdtempSync(join(directory, 'assembly-'));
      const env = {
        ...process.env,
        CDK_VALIDATION: 'false',
        CDK_OUTDIR: outdir,
        CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...settings }),
      };
      execFileSync('sh', ['-c', app], { cwd: source, env, stdio: ['ignore', 'ignore', 'inherit'] });
      return outdir;
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
