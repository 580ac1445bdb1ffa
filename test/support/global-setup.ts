import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startDynamoDb } from '../../infra/local/dynamodb.ts';
import { synthesize } from '../../infra/local/synthesize.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Directory of the synthesized stack. */
    assembly: string;
    dynamoDbEndpoint: string;
  }
}

/** Once per run: the synthesized stack and one DynamoDB Local for all tests. */
export default async function setup(project: TestProject): Promise<() => void> {
  const directory = mkdtempSync(join(tmpdir(), 'service-test-'));
  const dynamoDb = startDynamoDb();
  project.provide('assembly', synthesize(directory));
  const { endpoint, stop } = await dynamoDb;
  project.provide('dynamoDbEndpoint', endpoint);
  return () => {
    stop();
    rmSync(directory, { recursive: true, force: true });
  };
}
