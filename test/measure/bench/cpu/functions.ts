import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type FunctionProperties, modulePathOf } from '../../../../infra/local/lambda/lambda.ts';
import type { LocalStack } from '../../../../infra/local/stack.ts';
import type { Invocation, Invoked } from './function-process.ts';

/** Starts a process that runs bundles of functions with these environment variables. */
export function startFunctions(variables: Record<string, string>): {
  child: ChildProcess;
  invoke(invocation: Invocation): Promise<Invoked>;
} {
  const child = fork(new URL('./function-process.ts', import.meta.url), {
    env: {
      ...process.env,
      ...variables,
      AWS_ACCESS_KEY_ID: 'bench',
      NODE_EXTRA_CA_CERTS: fileURLToPath(new URL('../../../support/certificates/authority.pem', import.meta.url)),
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return {
    child,
    async invoke(invocation) {
      child.send(invocation);
      return ((await once(child, 'message')) as [Invoked])[0];
    },
  };
}

/** The bundle and the environment variables of a function. */
export function functionNamed({ template }: LocalStack, name: string) {
  const found = template
    .ofType<FunctionProperties>('AWS::Lambda::Function')
    .find(({ id }) => new RegExp(`^(Delivery)?${name}[0-9A-F]{8}$`).test(id));
  if (!found) throw new Error(`The template has no function ${name}`);
  const { properties } = found;
  return { path: modulePathOf(template, properties), variables: properties.Environment?.Variables ?? {} };
}
