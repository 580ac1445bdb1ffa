import { parentPort, workerData } from 'node:worker_threads';
import { shiftClock } from './clock.ts';

/** What a worker thread of the local stack is started with: it is one execution environment of one function. */
export interface WorkerSettings {
  modulePath: string;
  handler: string;
  functionName: string;
  functionArn: string;
  timeoutMs: number;
  clock: SharedArrayBuffer;
}

export interface Invocation {
  requestId: string;
  event: unknown;
}
export type Answer = { result: unknown } | { error: { name: string; message: string; stack?: string | undefined } };

const settings = workerData as WorkerSettings;
shiftClock(settings.clock);

const module = import(settings.modulePath) as Promise<
  Record<string, (event: unknown, context: unknown) => Promise<unknown>>
>;

parentPort?.on('message', async ({ requestId, event }: Invocation) => {
  parentPort?.postMessage(await run(requestId, event));
});

async function run(requestId: string, event: unknown): Promise<Answer> {
  const deadline = performance.now() + settings.timeoutMs;
  const context = {
    awsRequestId: requestId,
    functionName: settings.functionName,
    invokedFunctionArn: settings.functionArn,
    functionVersion: '$LATEST',
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    getRemainingTimeInMillis: () => Math.max(0, deadline - performance.now()),
  };
  try {
    const handler = (await module)[settings.handler];
    if (!handler) throw new Error(`${settings.functionName} exports no ${settings.handler}`);
    const result = await handler(event, context);
    return { result: result === undefined ? null : JSON.parse(JSON.stringify(result)) };
  } catch (error) {
    const { name, message, stack } = error as Error;
    return { error: { name, message, stack } };
  }
}
