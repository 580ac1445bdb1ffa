import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** A directory with the package and the program that all engines share, and a function that runs another program in it. */
function engineDirectory() {
  const directory = temporaryDirectory();
  const write = (name: string, text: string) => {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const packageOf = (name: string, source: string) => {
    write(`node_modules/${name}/package.json`, '{ "type": "module", "exports": "./index.js" }');
    write(`node_modules/${name}/index.js`, source);
  };
  packageOf('@document-sync-service/client', CLIENT);
  write('shared.mjs', programOf('shared.mjs'));
  const run = (program: string, env = {}) => {
    const options = { cwd: directory, env: { ...process.env, ...env }, encoding: 'utf8', stdio: 'pipe' } as const;
    const text = execFileSync(process.execPath, ['--input-type=module', '--eval', program], options);
    return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
  };
  return { packageOf, run };
}

it('publishes a stored change after a restart if it did not reach the outbox', () => {
  const { run } = engineDirectory();
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

it('accepts a change after one that failed: Express', () => {
  const { packageOf, run } = engineDirectory();
  // A request with its title and the response of the program, instead of a server.
  packageOf(
    'express',
    `
    const express = () => ({
      use() {}, get() {}, listen() {},
      async patch(path, allow, handle) {
        const patch = (title) => handle({ params: { name: 'a' }, body: { title } }, { json: (own) => console.log(JSON.stringify(own)) });
        process.env.FULL = 'yes';
        await patch('A').catch(({ message }) => console.log(JSON.stringify(message)));
        delete process.env.FULL;
        await patch('B');
      },
    });
    export default Object.assign(express, { json() {} });`,
  );
  const created = { document_key: 'a', revision: 2, fields: { title: 'B' }, origin: 'engine' };
  const printed = run(programOf('Express and your own store'));
  expect(printed).toEqual(['full', ['document.created', created], { title: 'B' }]);
});
