import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { JAVA_VERSION } from '../infra/local/services/dynamodb-local.ts';
import { settingsOf } from '../infra/settings.ts';

const { engines, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

describe('the threat model', () => {
  it('names tests that exist', () => {
    const named = [...readFileSync('lib/THREAT_MODEL.md', 'utf8').matchAll(/`(test\/[\w/.]+)`/g)];
    expect(named.length).toBeGreaterThan(8);
    const exists = (path: string) => existsSync(path) || existsSync(`${path}.test.ts`);
    expect(named.map(([, path = '']) => path).filter((path) => !exists(path))).toEqual([]);
  });
});

describe('the index of promises', () => {
  it('names a test that exists for each promise', () => {
    const rows = [...readFileSync('test/PROMISES.md', 'utf8').matchAll(/^\| (.+) \| `(.+)` \| (.+) \|$/gm)];
    expect(rows.length).toBeGreaterThan(20);
    const isMissing = ([, , file = '', name = '']: RegExpExecArray) =>
      !existsSync(join('test', file)) || !readFileSync(join('test', file), 'utf8').includes(name);
    expect(rows.filter(isMissing).map(([row]) => row)).toEqual([]);
  });
});

describe('a Markdown file', () => {
  const texts = new Map(
    execFileSync('git', ['ls-files', '*.md', ':!functions'], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((name) => [name, readFileSync(name, 'utf8')]),
  );
  /** The anchor that GitHub gives a heading. */
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');

  it('links only to files and headings that exist', () => {
    const links = [...texts].flatMap(([file, text]) =>
      [...text.matchAll(/(?:\]\(|src=")(?!\w+:|\.\.\/\.\.\/(?:actions|releases)\b)([^#)"\s]*)(?:#([^)"\s]+))?/g)].map(
        ([link, path = '', anchor]) => ({
          link: `${file}: ${link}`,
          to: path ? join(dirname(file), path) : file,
          anchor,
        }),
      ),
    );
    expect(links.length).toBeGreaterThan(100);
    const isBroken = ({ to, anchor }: (typeof links)[number]) => {
      const headings = [...(texts.get(to)?.matchAll(/^#+ (.*)$/gm) ?? [])].map(([, heading = '']) => anchorOf(heading));
      return !existsSync(to) || (anchor !== undefined && !headings.includes(anchor));
    };
    expect(links.filter(isBroken).map(({ link }) => link)).toEqual([]);
  });
});

describe('the README', () => {
  const readme = readFileSync('README.md', 'utf8');

  it('says what each system needs', () => {
    const { node } = engines;
    // Other systems use the database in memory, and the scripts need a POSIX shell.
    const systems = Object.keys(optionalDependencies).map((name) => name.replace(/^node-(bin-)?/, ''));
    expect(systems).toEqual(['@dynoxide/linux-x64', 'darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']);
    expect(readme).toContain(`On **Linux or macOS** with Node ${node.replace('>=', '')} or newer (on Windows in WSL)`);
    expect(readFileSync('infra/local/README.md', 'utf8')).toContain(`Java ${JAVA_VERSION}`);
  });

  it('states the lowest and the highest costs of an event', () => {
    const [table = ''] = readFileSync('infra/COSTS.md', 'utf8').split('| each further KB');
    const sums = [...table.matchAll(/^\|.*?\| ([\d.]+) \|/gm)].map(([, sum]) => Number(sum));
    expect(readme).toContain(`cost **$${Math.min(...sums)} to $${Math.max(...sums)}**`);
  });

  it('names the default stack', () => {
    const [, deploying = ''] = /\n## Deploying\n([\s\S]*?)\n## /.exec(readme) ?? [];
    const stacks = [...deploying.matchAll(/--stack (\w+)/g)].map(([, name]) => name);
    expect(new Set(stacks)).toEqual(new Set([settingsOf({}).stackName]));
  });
});
