import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { UserError } from '../user-error.ts';
import type { Shell } from './command.ts';

const STACK = { type: 'string', value: 'NAME', about: 'the CloudFormation stack of a deployment' } as const;

/** The option of commands that need a deployment. */
export const STACK_OPTION = { stack: STACK };

/** The option of commands that use the running local stack by default. */
export const OPTIONAL_STACK = { stack: { ...STACK, about: `${STACK.about} (the running local stack)` } };

/** Returns a function that reads an output of the stack. Throws `UserError` if there is no such stack or output. */
export async function outputsOf({ client }: Shell, StackName: string | undefined): Promise<(name: string) => string> {
  if (!StackName)
    throw new UserError('Pass --stack NAME, because this command needs a deployment and not the local stack.');
  const { Stacks = [] } = await client(CloudFormationClient)
    .send(new DescribeStacksCommand({ StackName }))
    .catch((error: Error) => {
      if (!error.message.includes('does not exist')) throw error;
      throw new UserError(`The stack ${StackName} does not exist in this account and region.`);
    });
  return (name) => {
    const value = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue;
    if (value === undefined) throw new UserError(`The stack ${StackName} has no output ${name}.`);
    return value;
  };
}

export type Deployment = Awaited<ReturnType<typeof deploymentOf>>;

/** Finds the resources of a stack that a restore needs. */
export async function deploymentOf(shell: Shell, StackName: string | undefined) {
  const output = await outputsOf(shell, StackName);
  return {
    tableName: output('TableName'),
    fanOut: output('FanOutFunction'),
    deliveriesUrl: output('DeliveriesQueue'),
    checksUrl: output('ChecksQueue'),
  };
}

/** Invokes a function, and returns its response. Throws `UserError` if the function failed. */
export async function invokeFunction({ client }: Shell, FunctionName: string, event: object): Promise<unknown> {
  const { FunctionError, Payload } = await client(LambdaClient).send(
    new InvokeCommand({ FunctionName, Payload: Buffer.from(JSON.stringify(event)) }),
  );
  const response = JSON.parse(Payload ? Buffer.from(Payload).toString() : 'null');
  if (FunctionError) throw new UserError(`${FunctionName} failed: ${response?.errorMessage ?? FunctionError}`);
  return response;
}
