import { UserError } from '../user-error.ts';
import { invokeFunction, stackOutputs } from './aws-cli.ts';
import { readStackFile } from './target.ts';

/** Invokes a function of the stack by its logical name. Throws `UserError` with the message of a function that failed. */
export type Invoke = (name: 'Projects' | 'CreateProject', event: object) => Promise<unknown>;

interface Where {
  stack: string | undefined;
  directory: string | undefined;
}

/** Invokes the functions of a deployed stack, or of the running local stack without a name. Throws `UserError`. */
export async function invokerOf({ stack: stackName, directory }: Where): Promise<Invoke> {
  if (stackName === undefined) return localInvoker(directory);
  const outputs = await stackOutputs(stackName);
  return async (name, event) => {
    const functionName = outputs[`${name}Function`];
    if (!functionName) throw new UserError(`The stack ${stackName} has no output ${name}Function.`);
    return invokeFunction(functionName, JSON.stringify(event));
  };
}

function localInvoker(directory: string | undefined): Invoke {
  const { base_url, invoke_token } = readStackFile('--stack', directory);
  return async (name, event) => {
    const response = await fetch(`${base_url}/_local/functions/${name}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${invoke_token}` },
      body: JSON.stringify(event),
    });
    const result = (await response.json()) as { message?: string };
    if (!response.ok) throw new UserError(String(result.message));
    return result;
  };
}
