import { LambdaClient } from '@aws-sdk/client-lambda';
import { UserError } from '../user-error.ts';
import type { Shell } from './command.ts';
import { invokeFunction, outputsOf } from './deployment.ts';
import { readStackFile, unreachable } from './target.ts';

/** Invokes a function of the stack by its logical name. Throws `UserError` with the message of a function that failed. */
export type Invoke = (name: 'Projects' | 'CreateProject', event: object) => Promise<unknown>;

interface Where {
  stack: string | undefined;
  directory: string | undefined;
}

/** Invokes the functions of a deployed stack, or of the running local stack without a name. Throws `UserError`. */
export async function invokerOf({ stack, directory }: Where, shell: Shell): Promise<Invoke> {
  if (stack === undefined) return localInvoker(directory);
  const output = await outputsOf(shell, stack);
  const lambda = shell.client(LambdaClient);
  return (name, event) => invokeFunction(lambda, output(`${name}Function`), JSON.stringify(event));
}

function localInvoker(directory: string | undefined): Invoke {
  const { base_url, invoke_token } = readStackFile('--stack', directory);
  return async (name, event) => {
    const response = await fetch(`${base_url}/_local/functions/${name}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${invoke_token}` },
      body: JSON.stringify(event),
    }).catch((error: Error) => {
      throw unreachable(base_url, error);
    });
    const result = (await response.json()) as { message?: string };
    if (!response.ok) throw new UserError(String(result.message));
    return result;
  };
}
