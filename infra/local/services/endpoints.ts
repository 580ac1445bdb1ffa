import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { namesThisMachine } from '../hosts.ts';
import { InvalidRequest } from '../models/invalid-request.ts';
import { requireModel } from '../models/models.ts';
import { type Operation, operationOf, type RawRequest } from '../models/operations.ts';

/** The operation and the input are empty for S3, and for services that are not of AWS. */
export interface ServiceRequest extends RawRequest, Operation {
  /** The access key id that signed the request, which is the role name on this machine. */
  principal: string;
}
export interface ServiceResponse {
  status?: number;
  headers?: Record<string, string>;
  body: string | Buffer;
}

export type Service = (request: ServiceRequest) => Promise<ServiceResponse> | ServiceResponse;

/** An error response of a service, in its protocol. */
export class ServiceError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** The AWS services of the local stack on one port, each below a prefix: `/sqs`, `/scheduler`, … */
export class Endpoints {
  private readonly services = new Map<string, Service>();
  /** Receives requests that AWS would always reject, with their errors. */
  rejected: (request: string) => void = () => {};
  private readonly servers: http.Server[] = [];
  private readonly host: string;
  private readonly hosts: string[];

  /** `host` is the host name for callers. */
  constructor(host = '127.0.0.1') {
    this.host = host;
    this.hosts = [host];
  }

  /** Listens on the same port of all addresses. Port 0 selects any free port. */
  async listen(addresses: readonly string[] = ['127.0.0.1'], port = 0): Promise<void> {
    this.hosts.push(...addresses);
    for (const address of addresses) {
      const server = http.createServer((request, response) => {
        this.respond(request, response).catch(() => response.destroy()); // the caller disconnected
      });
      server.keepAliveTimeout = 60_000;
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(this.port ?? port, address, resolve);
      });
      this.servers.push(server);
    }
  }

  private get port(): number | undefined {
    return (this.servers[0]?.address() as AddressInfo | undefined)?.port;
  }

  add(prefix: string, service: Service): void {
    this.services.set(prefix, service);
  }

  /** Wraps a service, for example with a meter. */
  wrap(prefix: string, around: (service: Service) => Service): void {
    const service = this.services.get(prefix);
    if (!service) throw new Error(`There is no service ${prefix}`);
    this.services.set(prefix, around(service));
  }

  url(prefix: string): string {
    return `http://${this.host}:${this.port}/${prefix}`;
  }

  async close(): Promise<void> {
    await Promise.all(
      this.servers.map((server) => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      }),
    );
  }

  private async respond(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    if (!namesThisMachine(request, this.hosts)) return void response.writeHead(403).end();
    const result = await this.perform(request, await text(request));
    const { status = 200, headers = {}, body } = result;
    response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers }).end(body);
  }

  private async perform(request: http.IncomingMessage, body: string): Promise<ServiceResponse> {
    const [, prefix = '', ...rest] = (request.url ?? '/').split('/');
    const service = this.services.get(prefix);
    if (!service) return { status: 404, body: '' };
    const { method = 'GET', headers } = request;
    const principal = /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1] ?? '';
    try {
      const path = `/${rest.join('/')}`;
      const raw = { method, path, headers, body };
      const operation = operationOf(prefix, raw);
      const { action, input } = operation ?? { action: '', input: {} };
      if (operation) requireModel(prefix, action, input);
      const response = await service({ ...raw, action, input, principal });
      if (response.status === 400 && INVALID.test(String(response.body))) this.rejected(`${prefix} ${response.body}`);
      return response;
    } catch (error) {
      if (error instanceof InvalidRequest) this.rejected(`${prefix} ${error.code}: ${error.message}`);
      return errorResponse(error, prefix === 'ses');
    }
  }
}

/** An error of the database for an invalid request. */
const INVALID = /"__type":\s*"[^"]*ValidationException"/;

function errorResponse(error: unknown, isQueryProtocol: boolean): ServiceResponse {
  const { code, message, status } = serviceError(error);
  if (isQueryProtocol) {
    const body = `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
    return { status, headers: { 'Content-Type': 'text/xml' }, body };
  }
  return {
    status,
    headers: { 'Content-Type': 'application/x-amz-json-1.0', 'x-amzn-errortype': code },
    body: JSON.stringify({ __type: code, message }),
  };
}

function serviceError(error: unknown): ServiceError {
  if (error instanceof InvalidRequest) return new ServiceError(error.code, error.message);
  return error instanceof ServiceError ? error : new ServiceError('InternalFailure', String(error), 500);
}
