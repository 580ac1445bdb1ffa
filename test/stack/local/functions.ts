import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LocalClock } from '../../../infra/local/lambda/clock.ts';
import { type FunctionProperties, type LambdaOptions, LocalFunction } from '../../../infra/local/lambda/lambda.ts';
import { afterFile, temporaryDirectory } from '../../support/after-file.ts';

/** Creates a Lambda function from a source text. */
export function createFunction(
  source: string,
  { options, properties }: { options?: Partial<LambdaOptions>; properties?: Partial<FunctionProperties> } = {},
): LocalFunction {
  const directory = temporaryDirectory();
  const asset = randomUUID();
  mkdirSync(join(directory, `asset.${asset}`));
  writeFileSync(join(directory, `asset.${asset}`, 'index.cjs'), source);
  const fn = new LocalFunction(
    {
      id: 'Fn',
      type: 'AWS::Lambda::Function',
      properties: {
        Code: { S3Key: `${asset}.zip` },
        Handler: 'index.handler',
        MemorySize: 128,
        Timeout: 20,
        Role: 'role',
        LoggingConfig: { LogGroup: 'logs' },
        ...properties,
      },
    },
    { directory },
    {
      clock: new LocalClock(),
      environment: {},
      output: () => {},
      publish: () => {},
      concurrency: 2,
      ...options,
    },
  );
  afterFile(() => fn.stop());
  return fn;
}
