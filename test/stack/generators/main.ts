import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../../../lib/http/openapi/openapi-document.ts';

/*
 * npm ci --prefix test/stack/generators && npx node test/stack/generators/main.ts generates clients from the OpenAPI document, and compiles a program with each in strict mode.
 */

/** The maximum number of types of a client, in addition to the request, response and error types of operations. */
const MAX_TYPES = 100;

const directory = join(import.meta.dirname, 'generated');
const run = (name: string, ...args: string[]): void => {
  execFileSync(join(import.meta.dirname, 'node_modules/.bin', name), args, { cwd: directory, stdio: 'inherit' });
};

rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
writeFileSync(join(directory, 'openapi.json'), JSON.stringify(openApiDocument('https://api.example.com')));
run('openapi-typescript', 'openapi.json', '-o', 'api.d.ts');
run('openapi-ts', '-i', 'openapi.json', '-o', 'client');
cpSync(join(import.meta.dirname, 'programs'), directory, { recursive: true });

const programs = readdirSync(join(import.meta.dirname, 'programs'));
const options = ['--strict', '--noEmit', '--module', 'esnext', '--moduleResolution', 'bundler', '--skipLibCheck'];
run('tsc', ...options, '--allowImportingTsExtensions', '--target', 'es2024', '--lib', 'es2024,dom', ...programs);

const types = readFileSync(join(directory, 'client/types.gen.ts'), 'utf8').match(/^export type (\w+)/gm) ?? [];
const own = types.filter((type) => !/(Data|Error|Errors|Response|Responses)$/.test(type));
if (own.length > MAX_TYPES) throw new Error(`A client has ${own.length} types: ${own.join(', ')}`);
console.log(`${programs.length} programs compiled. ${own.length} of ${types.length} types belong to no operation.`);
