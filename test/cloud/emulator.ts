import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../../infra/project-root.ts';
import { afterFile, temporaryDirectory } from '../support/after-file.ts';
import { freePort } from '../support/endpoints.ts';
import { eventually } from '../support/service.ts';

/** The Python with the packages of the emulator. */
export const PYTHON = process.env.EMULATOR ?? join(projectRoot, '.local/emulator/bin/python');
const CLOCK = fileURLToPath(new URL('clock/', import.meta.url));
/** The variables of an account of the emulator. Its commands need nothing else. */
const account = (endpoint: string) => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
});

interface Email {
  To: string[];
  Subject: string;
  BodyText: string;
}

export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

/** Starts an empty account until the tests of the file have ended. */
export async function startEmulator() {
  const directory = temporaryDirectory();
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const clockFile = join(directory, 'clock');
  const log = join(directory, 'log');
  const clock = openSync(clockFile, 'w+');
  const output = openSync(log, 'w');
  let offsetMs = 0;
  const advance = (ms: number) => {
    offsetMs += ms;
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(offsetMs);
    writeSync(clock, bytes, 0, 8, 0);
  };
  advance(0);
  const child = spawn(PYTHON, [join(projectRoot, 'infra/emulator/start.py')], {
    cwd: directory,
    stdio: ['ignore', output, output],
    env: {
      PATH: `${join(projectRoot, 'node_modules/.bin')}:${process.env.PATH}`,
      GATEWAY_PORT: String(port),
      TMPDIR: directory,
      STATE_DIR: join(directory, 'state'),
      S3_DATA_DIR: join(directory, 's3'),
      CLOCK_FILE: clockFile,
      PYTHONPATH: CLOCK,
      PYTHONDONTWRITEBYTECODE: '1',
      NODE_OPTIONS: `--import=${join(CLOCK, 'functions.mjs')}`,
    },
  });
  const ended = once(child, 'exit');
  afterFile(async () => {
    child.kill();
    await ended;
    closeSync(clock);
    closeSync(output);
  });
  const get = async (path: string) => (await fetch(endpoint + path)).json();
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(readFileSync(log, 'utf8'));
    return get('/_ministack/health').catch(() => false);
  });
  return {
    endpoint,
    variables: account(endpoint),
    /** Moves the time of the emulator and of its functions. */
    advance,
    now: () => Date.now() + offsetMs,
    log: () => readFileSync(log, 'utf8'),
    async emails(): Promise<Email[]> {
      return Object.values((await get('/_ministack/ses/messages')).messages).flat() as Email[];
    },
  };
}
