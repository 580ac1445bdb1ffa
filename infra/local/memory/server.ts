import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { namesThisMachine } from '../hosts.ts';
import { onKept } from '../kept.ts';
import { InvalidRequest } from '../models/invalid-request.ts';
import { jsonOperation } from '../models/operations.ts';
import type { DataFile } from '../services/data-file.ts';
import { MemoryDatabase } from './database.ts';
import { DynamoDbError } from './requests.ts';

/** Starts a database in this process, with the JSON protocol of DynamoDB on a free port of loopback. */
export async function startMemoryDatabase(
  directory?: string,
): Promise<{ endpoint: string; data: DataFile; stop(): void }> {
  const database = onKept(directory, () => new MemoryDatabase(directory));
  const server = http.createServer((request, response) => {
    respond(database, request, response).catch(() => response.destroy()); // the caller disconnected
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    data: database.storage,
    stop() {
      server.close().closeAllConnections();
      database.close();
    },
  };
}

async function respond(database: MemoryDatabase, request: http.IncomingMessage, response: http.ServerResponse) {
  if (!namesThisMachine(request)) return void response.writeHead(403).end();
  const body = await text(request);
  const [status, output] = outcomeOf(() => {
    const { action, input } = jsonOperation({ headers: request.headers, body });
    return database.perform(action, input);
  });
  response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(JSON.stringify(output));
}

function outcomeOf(perform: () => object): [status: number, output: object] {
  try {
    return [200, perform()];
  } catch (error) {
    if (error instanceof InvalidRequest) return [400, { __type: typeOf(error.code), message: error.message }];
    if (error instanceof DynamoDbError) {
      const { name, message, ...members } = error;
      return [400, { __type: typeOf(name), message, ...members }];
    }
    return [500, { __type: typeOf('InternalServerError'), message: String(error) }];
  }
}

const typeOf = (code: string): string => `com.amazonaws.dynamodb.v20120810#${code}`;
