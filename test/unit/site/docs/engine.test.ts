import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { programOf } from '../../../stack/engines/guide.ts';
import { temporaryDirectory } from '../../../support/after-file.ts';

/** A client whose outbox rejects events if the variable FULL is set, and otherwise prints them. */
const CLIENT = `
  export const [createClient, sqliteOutbox, tokenVerifier] = [() => {}, () => {}, () => {}];
  export const publisher = async () => ({
    async publish(event) {
      if (process.env.FULL) throw new Error('full');
      console.log(JSON.stringify([event.type, event.data]));
    },
  });
`;

it('publishes a stored change after a restart if it did not reach the outbox', () => {
  const directory = temporaryDirectory();
  const client = join(directory, 'node_modules/@document-sync-service/client');
  mkdirSync(client, { recursive: true });
  writeFileSync(join(client, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  writeFileSync(join(client, 'index.js'), CLIENT);
  writeFileSync(join(directory, 'shared.mjs'), programOf('shared.mjs'));
  const run = (program: string, env = {}) => {
    const options = { cwd: directory, env: { ...process.env, ...env }, encoding: 'utf8', stdio: 'pipe' } as const;
    const text = execFileSync(process.execPath, ['--input-type=module', '--eval', program], options);
    return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
  };
  const save = (fields: object) => `import { save } from './shared.mjs'; await save('a', ${JSON.stringify(fields)});`;
  const restart = "import './shared.mjs';";
  expect(() => run(save({ title: 'A' }), { FULL: 'yes' })).toThrow('full');
  const created = { document_key: 'a', revision: 1, fields: { title: 'A' }, origin: 'engine' };
  expect(run(restart)).toEqual([['document.created', created]]);
  expect(() => run(save({ title: 'B' }), { FULL: 'yes' })).toThrow('full');
  const changes = [{ field: 'title', old_value: 'A', new_value: 'B', origin: 'engine' }];
  expect(run(restart)).toEqual([['document.changed', { document_key: 'a', revision: 2, changes }]]);
  expect(run(restart)).toEqual([]);
});
