import { createRequire, flushCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { shiftClock } from './clock.ts';

/** The settings of a worker thread, which is one execution environment of one function. */
export interface WorkerSettings {
  modulePath: string;
  handler: string;
  functionName: string;
  timeoutMs: number;
  clock: SharedArrayBuffer;
  /** The directory for compiled code, which all environments and later starts share. */
  compileCache: string;
}

export interface Invocation {
  requestId: string;
  /** The event as JSON. */
  payload: string;
}

/** A message from a thread: `ready` when its code is loaded, then the result of each invocation. */
export type WorkerMessage = 'ready' | Result;
/** The response of the handler as JSON, or its error. */
export type Result = { payload: string } | { error: { name: string; message: string } };

/**
 * The maximum response of a synchronous invocation in bytes of JSON (Lambda quotas: 6 MB). Lambda accepts slightly more than the
 * documented value.
 */
const MAX_RESPONSE_BYTES = 6_291_556;

const settings = workerData as WorkerSettings;
shiftClock(settings.clock);

type Handlers = Record<string, (event: unknown, context: unknown) => Promise<unknown>>;
const say = (message: WorkerMessage) => parentPort?.postMessage(message);

const loaded = load();
parentPort?.on('message', async (invocation: Invocation) => {
  say(await run(invocation));
});
say('ready');
flushCompileCache();

function load(): { exports: Handlers } | { error: unknown } {
  try {
    return { exports: createRequire(import.meta.url)(settings.modulePath) };
  } catch (error) {
    return { error }; // every invocation fails with this error
  }
}

async function run({ requestId, payload }: Invocation): Promise<Result> {
  try {
    if ('error' in loaded) throw loaded.error;
    const handler = loaded.exports[settings.handler];
    if (!handler) throw new Error(`${settings.functionName} exports no ${settings.handler}`);
    const context = {}; // no function reads it
    const result = JSON.stringify((await handler(JSON.parse(payload), context)) ?? null) ?? 'null';
    return Buffer.byteLength(result) > MAX_RESPONSE_BYTES ? TOO_LARGE : { payload: result };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    process.stdout.write(`${errorLine(requestId, error)}\n`);
    return { error: { name: error.name, message: error.message } };
  }
}

/** The line that the Lambda runtime prints in JSON log format when a handler throws (`LogPatch.js` of aws-lambda-ric 3.3.0). */
function errorLine(requestId: string, error: Error): string {
  const stackTrace = (error.stack ?? '').split('\n');
  const message = { errorType: error.constructor.name, errorMessage: error.message, stackTrace, ...error };
  return JSON.stringify({ timestamp: new Date().toISOString(), level: 'ERROR', requestId, message });
}

const TOO_LARGE: Result = {
  error: {
    name: 'Function.ResponseSizeTooLarge',
    message: `Response payload size exceeded maximum allowed payload size (${MAX_RESPONSE_BYTES} bytes).`,
  },
};
