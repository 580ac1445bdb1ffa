import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from '../user-error.ts';

/** Access to the files in a bucket and to a Lambda function. */
export interface FailedEventsAccess {
  list(): Promise<string[]>;
  read(key: string): Promise<string>;
  remove(key: string): Promise<void>;
  /** The function's response. Throws if the function failed. */
  invoke(payload: string): Promise<unknown>;
}

/** Access to the messages in a queue. */
export interface FailedSchedulesAccess {
  /** Returns some messages, or none if the queue is empty. */
  receive(): Promise<{ body: string; receiptHandle: string }[]>;
  remove(receiptHandle: string): Promise<void>;
  /** Calls SendMessage with this JSON input. */
  send(input: string): Promise<void>;
}

const run = promisify(execFile);
/** The maximum size of a Lambda event (Lambda quotas), plus its JSON envelope. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Runs the AWS CLI with the credentials of the shell, and returns its output. Throws `UserError`. */
async function aws(...args: string[]): Promise<string> {
  const { stdout } = await run('aws', args, { maxBuffer: MAX_OUTPUT_BYTES }).catch((error) => {
    throw new UserError(error.code === 'ENOENT' ? 'Install version 2 of the AWS CLI.' : reasonIn(error));
  });
  return stdout;
}

/** The line with the error. Members of the error can follow it (AWS CLI, "Structured error output"). */
function reasonIn({ stderr, message }: { stderr: string; message: string }): string {
  const lines = stderr.trim().split('\n');
  const reason = lines.find((line) => line.includes('An error occurred')) ?? lines.at(-1);
  return reason || message;
}

const awsJson = async (...args: string[]) => JSON.parse((await aws(...args, '--output', 'json')) || 'null');

/** Calls an operation of AWS with its JSON input. Does not follow pages. */
export type AwsCall = (service: string, operation: string, input: object) => Promise<unknown>;

export const awsCall: AwsCall = (service, operation, input) =>
  awsJson(service, operation, '--cli-input-json', JSON.stringify(input), '--no-paginate');

/** The resources of a deployment that a restore needs. */
export interface Deployed {
  tableName: string;
  fanOut: string;
  deliveriesUrl: string;
  checksUrl: string;
}

/** Finds the resources of a stack. The mapping of the fan-out names the table, which the stack may not contain. */
export async function deployed(call: AwsCall, StackName: string): Promise<Deployed> {
  const idOf = async (LogicalResourceId: string) => {
    const found = await call('cloudformation', 'describe-stack-resource', { StackName, LogicalResourceId });
    return (found as { StackResourceDetail: { PhysicalResourceId: string } }).StackResourceDetail.PhysicalResourceId;
  };
  const mapping = await call('lambda', 'get-event-source-mapping', { UUID: await idOf('FanOutSource') });
  const { EventSourceArn, FunctionArn } = mapping as Record<'EventSourceArn' | 'FunctionArn', string>;
  const [, tableName = ''] = /:table\/(.+)\/stream\//.exec(EventSourceArn) ?? [];
  const [, fanOut = ''] = /:function:([^:]+)/.exec(FunctionArn) ?? [];
  return { tableName, fanOut, deliveriesUrl: await idOf('Deliveries'), checksUrl: await idOf('Checks') };
}

export function failedEvents(bucket: string, functionName: string): FailedEventsAccess {
  return {
    list: async () =>
      (await awsJson('s3api', 'list-objects-v2', '--bucket', bucket, '--query', 'Contents[].Key')) ?? [],
    read: (key) => aws('s3', 'cp', `s3://${bucket}/${key}`, '-'),
    remove: async (key) => void (await aws('s3', 'rm', `s3://${bucket}/${key}`)),
    invoke: (payload) => invokeFunction(functionName, payload),
  };
}

/** Invokes a function, and returns its response. Throws `UserError` if the function failed. */
export async function invokeFunction(functionName: string, payload: string): Promise<unknown> {
  const directory = mkdtempSync(join(tmpdir(), 'invoke-'));
  const [input, output] = [join(directory, 'input'), join(directory, 'output')];
  try {
    writeFileSync(input, payload, { mode: 0o600 });
    const name = ['--function-name', functionName];
    const { FunctionError } = await awsJson('lambda', 'invoke', ...name, '--payload', `fileb://${input}`, output);
    const response = readFileSync(output, 'utf8');
    if (FunctionError) throw new UserError(`${functionName} failed: ${JSON.parse(response).errorMessage}`);
    return JSON.parse(response);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The outputs of a stack by name. */
export async function stackOutputs(stackName: string): Promise<Record<string, string>> {
  interface Stack {
    Outputs?: { OutputKey: string; OutputValue: string }[];
  }
  const { Stacks } = await awsJson('cloudformation', 'describe-stacks', '--stack-name', stackName);
  const [stack] = Stacks as Stack[];
  return Object.fromEntries((stack?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
}

export function failedSchedules(queueUrl: string): FailedSchedulesAccess {
  const queue = ['--queue-url', queueUrl];
  const limits = ['--max-number-of-messages', '10', '--wait-time-seconds', '5'];
  return {
    async receive() {
      const response = await awsJson('sqs', 'receive-message', ...queue, ...limits);
      const messages: { Body: string; ReceiptHandle: string }[] = response?.Messages ?? [];
      return messages.map(({ Body, ReceiptHandle }) => ({ body: Body, receiptHandle: ReceiptHandle }));
    },
    remove: async (receiptHandle) =>
      void (await aws('sqs', 'delete-message', ...queue, '--receipt-handle', receiptHandle)),
    send: async (input) => void (await aws('sqs', 'send-message', '--cli-input-json', input)),
  };
}
