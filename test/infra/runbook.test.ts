import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const runbook = readFileSync('infra/RUNBOOK.md', 'utf8');

// `test/stack/flows/runbook.test.ts` runs the commands of this project.
it('the runbook names only log lines and settings that exist', () => {
  const names = [...runbook.matchAll(/`([a-z]\w*\.[a-z]\w*)`/gi)].map(([, name = '']) => name);
  const code = ['lib', 'infra'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
  );
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !code.some((text) => text.includes(name)))).toEqual([]);
});
