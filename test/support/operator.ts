import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Shapes, ShapeValidator } from '../../infra/local/models/shapes.ts';
import { afterFile } from './after-file.ts';

interface Model {
  operations: Record<string, string>;
  shapes: Shapes;
}
const file = new URL('../../infra/local/models/operator-models.json', import.meta.url);
const { services } = JSON.parse(readFileSync(file, 'utf8')) as { services: Record<string, Model> };

/** Performs operations for the AWS CLI, such as `sqs StartMessageMoveTask`. Commands like `s3 rm` get their arguments. */
export type Performers = Readonly<
  Record<string, (input: Record<string, unknown>, args: readonly string[]) => unknown | Promise<unknown>>
>;

export interface Operator {
  /** Runs a command of a shell, in which `aws` calls the performers. Fails like the command. */
  run(command: string): Promise<string>;
  /** The operations that were called. Those without a performer only validate their input, and return nothing. */
  readonly called: string[];
}

/** A shell with an AWS CLI that validates every option against the service models, and runs operations in this process. */
export async function startOperator(performers: Performers): Promise<Operator> {
  const called: string[] = [];
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    try {
      const { name, input, args, query, output } = parse(JSON.parse(text));
      called.push(name);
      const result = await performers[name]?.(input, args);
      response.end(printed(query ? search(result, query) : result, output));
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const directory = mkdtempSync(join(tmpdir(), 'operator-'));
  const script = `
    const response = await fetch('http://127.0.0.1:${(server.address() as AddressInfo).port}', {
      method: 'POST',
      body: JSON.stringify(process.argv.slice(2)),
    });
    (response.ok ? process.stdout : process.stderr).write(await response.text());
    process.exitCode = response.ok ? 0 : 254;`;
  writeFileSync(join(directory, 'aws.mjs'), script);
  writeFileSync(join(directory, 'aws'), `#!/bin/sh\nexec '${process.execPath}' '${directory}/aws.mjs' "$@"\n`, {
    mode: 0o755,
  });
  afterFile(() => {
    server.close().closeAllConnections();
    rmSync(directory, { recursive: true });
  });
  const PATH = [directory, dirname(process.execPath), process.env.PATH].join(':');
  return {
    called,
    run: (command) =>
      new Promise((resolve, reject) => {
        execFile('sh', ['-e', '-c', command], { env: { ...process.env, PATH } }, (error, stdout, stderr) =>
          error ? reject(new Error(`${command}: ${stderr || error.message}`)) : resolve(stdout),
        );
      }),
  };
}

/** Options of every command. */
const GLOBAL = ['query', 'output', 'cli-binary-format', 'cli-input-json', 'no-paginate'];

/** Reads a command line. Throws if it does not match the model of its operation. */
function parse([service = '', command = '', ...rest]: string[]) {
  const options = new Map<string, string[]>();
  const args: string[] = [];
  let values = args;
  for (const word of rest) {
    if (word.startsWith('--')) {
      values = [];
      options.set(word.slice(2), values);
    } else if (values !== args && values.length > 0 && !isList(service, command, [...options.keys()].at(-1) ?? ''))
      args.push(word);
    else values.push(word);
  }
  const global = (name: string) => options.get(name)?.[0];
  const [query, output = 'json'] = [global('query'), global('output')];
  if (service === 's3') return { name: `s3 ${command}`, input: {}, args, query, output: 'text' };
  const { name, shape, model } = operationOf(service, command);
  const input: Record<string, unknown> = JSON.parse(global('cli-input-json') ?? '{}');
  for (const [option, given] of options) {
    if (GLOBAL.includes(option)) continue;
    const { member, type, isNegated } = memberOf(model, shape, option);
    input[member] = isNegated ? false : optionValue(model, type, given);
  }
  const violation = new ShapeValidator(model.shapes).check(shape, input);
  if (violation) throw new Error(`aws ${service} ${command}: ${violation.path} ${violation.message}`);
  return { name, input, args, query, output };
}

function operationOf(service: string, command: string) {
  const model = services[service.replace('s3api', 's3')];
  const wanted = command.replaceAll('-', '');
  const [operation, shape] =
    Object.entries(model?.operations ?? {}).find(([name]) => name.toLowerCase() === wanted) ?? [];
  if (!model || !operation || !shape) throw new Error(`operator-models.json lacks aws ${service} ${command}`);
  return { name: `${service} ${operation}`, shape, model };
}

/** Options that the AWS CLI names differently from their members. */
const RENAMED: Record<string, string> = { 'notification-endpoint': 'endpoint' };

function memberOf({ shapes }: Model, shape: string, given: string) {
  const option = RENAMED[given] ?? given;
  const members = Object.entries(shapes[shape]?.members ?? {});
  const find = (text: string) => members.find(([name]) => name.toLowerCase() === text.replaceAll('-', ''));
  const found = find(option) ?? find(option.replace(/^no-/, ''));
  if (!found) throw new Error(`Unknown option: --${option}`);
  return { member: found[0], type: found[1], isNegated: find(option) === undefined };
}

function isList(service: string, command: string, option: string): boolean {
  if (service === 's3' || GLOBAL.includes(option)) return false;
  const { shape, model } = operationOf(service, command);
  return model.shapes[memberOf(model, shape, option).type]?.type === 'list';
}

function optionValue(model: Model, type: string, given: readonly string[]): unknown {
  const [text = ''] = given;
  const { type: kind = '', members = {} } = model.shapes[type] ?? {};
  if (kind === 'boolean') return text === '' || text === 'true';
  if (kind === 'integer' || kind === 'long') return Number(text);
  if (kind === 'blob') return readFileSync(text.replace('fileb://', ''), 'utf8');
  if (/^[[{]/.test(text) && kind !== 'string') return JSON.parse(text);
  if (kind === 'list') return given;
  if (kind !== 'structure') return text;
  const pairs = text.split(',').map((pair) => pair.split('=', 2) as [string, string]);
  return Object.fromEntries(pairs.map(([name, value]) => [name, optionValue(model, members[name] ?? '', [value])]));
}

/** Evaluates the JMESPath expressions in use: `a.b`, `a[].b` and `[a,b]`. */
function search(value: unknown, expression: string): unknown {
  if (value === undefined) return undefined;
  const [, names] = /^\[([\w,]+)\]$/.exec(expression) ?? [];
  if (names) return names.split(',').map((name) => search(value, name));
  const [, name = '', isList, rest] = /^(\w+)(\[\])?(?:\.(.+))?$/.exec(expression) ?? [];
  const found = (value as Record<string, unknown>)[name];
  if (!rest || found === undefined) return found ?? null;
  return isList ? (found as unknown[]).map((each) => search(each, rest)) : search(found, rest);
}

/** Without a result, a text of the length of an ARN stands for it. */
function printed(result: unknown, output: string): string {
  if (output === 'text') return result === undefined ? 'not-run-on-this-machine' : `${result}`;
  return result === undefined ? '' : JSON.stringify(result, null, 4);
}
