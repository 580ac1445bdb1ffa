import { randomBytes, randomUUID } from 'node:crypto';
import type { APIGatewayAuthorizerResult, APIGatewayProxyResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { projectAdministration, projectCreation } from '../../functions/project-wiring.ts';
import * as wiring from '../../functions/wiring.ts';
import { findRoute } from '../../infra/local/gateway/routes.ts';
import { createTable, type TableOptions } from '../../lib/aws/table.ts';
import { deliverBatch } from '../../lib/deliveries/batch.ts';
import { fanOutBatch } from '../../lib/deliveries/fan-out.ts';
import type { Lane } from '../../lib/deliveries/lanes.ts';
import { toDelivery } from '../../lib/deliveries/log-store.ts';
import type { QueueMessage } from '../../lib/deliveries/messages.ts';
import type { Post } from '../../lib/deliveries/post.ts';
import { tally } from '../../lib/deliveries/stats.ts';
import type { CheckMessage } from '../../lib/documents/connections.ts';
import { checkConnection } from '../../lib/documents/lost-connections.ts';
import { toStoredEvent } from '../../lib/events/store.ts';
import type { ApiFunction } from '../../lib/http/operation.ts';
import { allOperations, operationAt } from '../../lib/http/operations.ts';
import { problemResult } from '../../lib/http/problem-result.ts';
import { methodNotAllowed, Problem, type ProblemCode } from '../../lib/http/problems.ts';
import { COMMON_HEADERS } from '../../lib/http/security-headers.ts';
import type { ApiHandler } from '../../lib/http/serve.ts';
import { keyViolations } from '../../lib/keys/handlers.ts';
import type { Email } from '../../lib/projects/emails.ts';
import { webhookViolations } from '../../lib/webhooks/handlers.ts';
import { MemoryDynamoDb } from '../memory/simulation/dynamodb.ts';
import type { Item } from '../memory/simulation/expressions.ts';
import { proxyEvent } from '../unit/http/builders.ts';
import { expectConformance } from './conformance.ts';
import { type Answer, type Client, projectOf } from './service.ts';

const HOST = '127.0.0.1:3000';
const BASE_URL = `http://${HOST}`;
const ADDRESS = '127.0.0.1';
const routes = allOperations.map(({ method, path }) => ({
  method,
  resource: path,
  segments: path.slice(1).split('/'),
}));

/** The status code with which an endpoint responds. */
type Behaviour = number | ((post: Post, count: number) => number | Promise<number>);

/**
 * The whole API and the delivery behind it in this process: the real code from the authorizer to the stores, on the table in
 * memory that the contract tests verify. Every response is checked against the OpenAPI document. The clock stands still
 * between requests, and work that is due later waits for `settle` or `advance`.
 */
export function memoryService() {
  let now = Date.UTC(2026, 0, 31, 12);
  const clock = () => now;
  const emails: Email[] = [];
  const log: string[] = [];
  const failures: string[] = [];
  const endpoints = new Map<string, { behaviour: Behaviour; received: Post[] }>();
  const due: { at: number; run: () => Promise<unknown> }[] = [];
  const faults: {
    email?: Error;
    command?: (name: string, input: object) => Error | undefined;
  } = {};
  const checks: number[] = [];
  const messages: QueueMessage[] = [];
  let sequence = 0;

  const later = (delayMs: number, run: () => Promise<unknown>) => void due.push({ at: now + delayMs, run });

  const db = new MemoryDynamoDb({ onChange });
  const send = async (command: { input: Record<string, unknown> }) => {
    const name = command.constructor.name.replace('Command', '');
    const fault = faults.command?.(name, command.input);
    if (fault) throw fault;
    return db.execute({ name, input: command.input });
  };
  const pause = async () => {};
  const table = createTable('table', { documents: { send }, pause, now: clock } as unknown as TableOptions);

  const queueOf = (lane: Lane): wiring.DeliveryQueue => ({
    send: async (message, delaySeconds = 0) => later(delaySeconds * 1000, () => deliver(lane, message)),
    sendAll: async (messages, delaySeconds = 0) => {
      for (const message of messages) later(delaySeconds * 1000, () => deliver(lane, message));
    },
  });
  const line = (event: string, fields: object) => void log.push(JSON.stringify({ message: event, ...fields }));
  const queues = { quick: queueOf('quick'), new: queueOf('new'), slow: queueOf('slow') };
  const platform = {
    table,
    clock,
    random: randomBytes,
    log: { info: line, warn: line },
    reportFailure: (event: string, fields: object, _error: unknown) => {
      failures.push(event);
      line(event, fields);
    },
    queues,
    queue: queues.quick,
    sharePrefix: 'share',
    requestsPerSecond: '500',
    async scheduleCheck(message: CheckMessage, delaySeconds: number) {
      checks.push(delaySeconds);
      later(delaySeconds * 1000, () => checkConnection(message, wiring.connectionDeps(platform)));
    },
    sourceAddresses: ['192.0.2.1'],
    async sendEmail(email: Email) {
      if (faults.email) throw faults.email;
      emails.push(email);
    },
  };

  const { serveOperations } = wiring;
  const functions: Partial<Record<ApiFunction, ApiHandler>> = {
    keys: serveOperations<'keys'>(platform, wiring.keyOperations(platform), keyViolations(clock)),
    tokens: serveOperations<'tokens'>(platform, wiring.tokenOperations(platform)),
    project: serveOperations<'project'>(platform, wiring.projectOperations(platform)),
    events: serveOperations<'events'>(platform, wiring.eventOperations(platform)),
    documents: serveOperations<'documents'>(platform, wiring.documentOperations(platform)),
    webhooks: serveOperations<'webhooks'>(platform, wiring.webhookOperations(platform), webhookViolations('any')),
  };
  const authorize = wiring.authorization(platform);
  const createProject = projectCreation(platform);

  function onChange(before: Item | undefined, after: Item | undefined): void {
    const pk = String(after?.pk);
    if (after && !before && pk.startsWith('EVENT#')) {
      const event = toStoredEvent(after);
      later(0, () => fanOutBatch(wiring.fanOutDeps(platform))(event));
    }
    if (after && pk.startsWith('HOOK#')) {
      const change = { before: before && toDelivery(before), after: toDelivery(after), sequence: String(++sequence) };
      const { add } = wiring.countDeps(platform);
      later(0, () => Promise.all(tally([change]).map((each) => add(each, 'shard'))));
    }
  }

  async function deliver(lane: Lane, message: QueueMessage): Promise<void> {
    messages.push(message);
    const deps = wiring.deliverDeps({
      ...platform,
      lane,
      dashboardUrl: '',
      post,
      schedule: async (_name, { body }, atMs) => later(atMs - now, () => deliver('quick', body)),
      done: () => {},
    });
    await deliverBatch([message], deps)(message).catch(() => later(1000, () => deliver(lane, message)));
  }

  async function post(request: Post) {
    const endpoint = endpoints.get(request.url);
    endpoint?.received.push(request);
    const behaviour = endpoint?.behaviour ?? 200;
    const given = typeof behaviour === 'number' ? behaviour : behaviour(request, endpoint?.received.length ?? 0);
    const statusCode = await given;
    const error = statusCode < 300 ? null : 'status_not_2xx';
    return { statusCode, error, durationMs: 10, waitedMs: 10, excerpt: null, headers: [] };
  }

  /** Does what is due until then, in order. Without a time it does everything, and the clock jumps to each piece of work. */
  async function work(until = Number.POSITIVE_INFINITY): Promise<void> {
    for (;;) {
      due.sort((a, b) => a.at - b.at);
      const [next] = due;
      if (!next || next.at > until) return;
      due.shift();
      now = Math.max(now, next.at);
      await next.run();
    }
  }

  async function advance(ms: number): Promise<void> {
    const end = now + ms;
    await work(end);
    now = end;
  }

  const as = (credential: string | null): Client => {
    const given: Record<string, string> = credential === null ? {} : { Authorization: `Bearer ${credential}` };
    return async (method, path, { body, headers, from } = {}) => {
      now++;
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const all = { Host: HOST, 'X-Forwarded-Proto': 'http', ...given, ...headers };
      const sent = { ...(text !== undefined && { 'Content-Type': 'application/json' }), ...all };
      const answer = answerOf(await respond(method, path, { text: text ?? null, headers: sent, from }));
      expectConformance(method, path, answer);
      return answer;
    };
  };

  async function respond(
    method: string,
    path: string,
    {
      text,
      headers,
      from = ADDRESS,
    }: { text: string | null; headers: Record<string, string>; from: string | undefined },
  ): Promise<APIGatewayProxyResult> {
    const requestId = randomUUID();
    const { pathname, searchParams } = new URL(path, BASE_URL);
    const found = findRoute(routes, method, pathname);
    const reject = (problem: Problem) => {
      const result = problemResult(problem, requestId, BASE_URL);
      const security = { ...COMMON_HEADERS, 'X-Frame-Options': 'DENY' };
      return { ...result, headers: { ...result.headers, ...security, 'X-Request-Id': requestId } };
    };
    if (!found) return reject(methodNotAllowed([]));
    const { route, parameters } = found;
    const [, operation] = operationAt(method, route.resource) ?? [];
    const event = proxyEvent({ httpMethod: method, resource: route.resource, body: text, headers, requestId });
    const { requestContext } = event;
    requestContext.identity.sourceIp = from;
    requestContext.path = `${route.resource}`;
    event.pathParameters = parameters;
    event.queryStringParameters = Object.fromEntries(searchParams);
    const { Authorization } = headers;
    const multiValueHeaders = { ...(Authorization !== undefined && { Authorization: [Authorization] }) };
    const methodArn = 'arn:aws:execute-api:eu-central-1:1:api/live/GET/';
    const request = { ...event, methodArn, multiValueHeaders } as unknown as APIGatewayRequestAuthorizerEvent;
    if (operation?.callers !== 'anyone') {
      const decision = await authorize(request).catch(() => undefined);
      if (!decision) return reject(new Problem('unauthorized', 'Send a valid credential.'));
      const problem = problemOf(decision);
      if (problem) return reject(problem);
      requestContext.authorizer = decision.context as never;
    }
    const handle = operation && functions[operation.function];
    return handle
      ? handle(event)
      : reject(new Problem('route_not_found', 'The tests in memory have no such function.'));
  }

  return {
    baseUrl: BASE_URL,
    clock: {
      now: clock,
      /** Lets time pass, and does what is due in it. */
      advance,
      /** Lets time pass, and leaves what is due in it undone, as during an outage. */
      skip: (ms: number) => {
        now += ms;
      },
    },
    /** The seconds after which each check of a connection was due. */
    checks,
    /** The messages that the deliveries queues passed on. */
    messages,
    emails,
    log,
    /** The names of the internal failures that were reported. */
    failures,
    faults,
    table,
    as,
    /** Does all work that is due, now or later. */
    settle: () => work(),
    /** Adds an endpoint. Others respond with 200. */
    endpoint(behaviour: Behaviour = 200) {
      const url = `https://${randomUUID()}.example.com/hook`;
      const endpoint = { behaviour, received: [] as Post[] };
      endpoints.set(url, endpoint);
      return {
        url,
        received: endpoint.received,
        behave: (next: Behaviour) => {
          endpoint.behaviour = next;
        },
      };
    },
    createProject,
    /** Runs an operation on projects, like an operator. */
    administer: projectAdministration({ ...platform, enqueue: queues.quick.sendAll }),
    db,
    /** Reports an address of a project, like SES. */
    stopEmails: wiring.emailEventsDeps(platform).stop,
    async project(name = 'Test') {
      const email = `${randomUUID()}@example.com`;
      now++;
      return projectOf(await createProject({ name, email }), as);
    },
  };
}

function answerOf({ statusCode, headers = {}, body }: APIGatewayProxyResult): Answer {
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  const known: Record<string, string> = Object.fromEntries(lowered);
  const isJson = known['content-type']?.includes('json');
  return { status: statusCode, headers: known, text: body, body: isJson && body ? JSON.parse(body) : undefined };
}

/** Why the authorizer denies a request, if it does. */
function problemOf({ policyDocument, context }: APIGatewayAuthorizerResult): Problem | undefined {
  const [statement] = policyDocument.Statement;
  if (statement?.Effect === 'Allow') return undefined;
  return new Problem(context?.code as ProblemCode, String(context?.detail));
}
