import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { failedEvents, failedSchedules, stackOutputs } from '../../infra/commands/aws-cli.ts';
import { UserError } from '../../infra/user-error.ts';

const directory = mkdtempSync(join(tmpdir(), 'aws-cli-'));
const calls = join(directory, 'calls');

/** An AWS CLI that records its calls and responds like the real one. Its function returns the payload. */
const CLI = `#!/bin/sh
printf '%s\\n' "$*" >> '${calls}'
case "$1 $2" in
  's3api list-objects-v2') [ "$4" = empty ] && echo null || echo '["a","b"]' ;;
  's3 cp') printf 'text of %s' "$3" ;;
  'lambda invoke')
    cp "\${6#fileb://}" "$7"
    [ "$4" = broken ] && echo '{"StatusCode":200,"FunctionError":"Unhandled"}' || echo '{"StatusCode":200}' ;;
  's3 rm') [ "$3" = s3://denied/a ] && printf '\nfatal error: Unable to locate credentials\n' >&2 && exit 1 || : ;;
  'cloudformation describe-stacks')
    printf '\naws: [ERROR]: An error occurred (ValidationError): There is no stack %s\n\nAdditional error details:\nType: User\n' "$4" >&2
    exit 254 ;;
  'sqs receive-message') [ "$4" = empty ] || echo '{"Messages":[{"Body":"{}","ReceiptHandle":"r"}]}' ;;
esac
`;

beforeAll(() => {
  writeFileSync(join(directory, 'aws'), CLI);
  chmodSync(join(directory, 'aws'), 0o755);
  vi.stubEnv('PATH', `${directory}:${process.env.PATH}`);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

const lastCall = () => readFileSync(calls, 'utf8').trim().split('\n').at(-1);

it('lists, reads and removes files of a bucket, and passes them to the function', async () => {
  const { list, read, remove, invoke } = failedEvents('bucket', 'fan-out');
  expect(await list()).toEqual(['a', 'b']);
  expect(await failedEvents('empty', 'fan-out').list()).toEqual([]);
  expect(await read('a/b')).toBe('text of s3://bucket/a/b');
  await remove('a/b');
  expect(lastCall()).toBe('s3 rm s3://bucket/a/b');
  expect(await invoke('{"Records":[]}')).toEqual({ Records: [] });
});

it.each([
  [
    'a call without credentials',
    () => failedEvents('denied', 'f').remove('a'),
    'fatal error: Unable to locate credentials',
  ],
  [
    'an error with members',
    () => stackOutputs('none'),
    'aws: [ERROR]: An error occurred (ValidationError): There is no stack none',
  ],
  [
    'a function that failed',
    () => failedEvents('bucket', 'broken').invoke('{"errorMessage":"There is no project prj_1"}'),
    'broken failed: There is no project prj_1',
  ],
])('states the reason of %s in one sentence', async (_, call, reason) => {
  await expect(call()).rejects.toThrow(new UserError(reason));
});

it('receives, sends and removes messages of a queue', async () => {
  const { receive, remove, send } = failedSchedules('https://queue');
  expect(await receive()).toEqual([{ body: '{}', receiptHandle: 'r' }]);
  expect(await failedSchedules('empty').receive()).toEqual([]);
  await remove('r');
  expect(lastCall()).toBe('sqs delete-message --queue-url https://queue --receipt-handle r');
  await send('{"QueueUrl":"q"}');
  expect(lastCall()).toBe('sqs send-message --cli-input-json {"QueueUrl":"q"}');
});

it('names the AWS CLI when it is missing', async () => {
  vi.stubEnv('PATH', '/nowhere');
  await expect(stackOutputs('any')).rejects.toThrow(new UserError('Install version 2 of the AWS CLI.'));
});
