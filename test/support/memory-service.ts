import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type {
  APIGatewayAuthorizerResult,
  APIGatewayProxyResult,
  APIGatewayRequestAuthorizerEvent,
  Context,
  SQSBatchResponse,
} from 'aws-lambda';
import { expect } from 'vitest';
import { findRoute } from '../../infra/local/gateway/routes.ts';
import type { Item } from '../../infra/local/memory/paths.ts';
import { allOperations } from '../../lib/api/operations.ts';
import { routeAt } from '../../lib/api/routes.ts';
import { backendOf } from '../../lib/aws/backend.ts';
import type { Email } from '../../lib/aws/email.ts';
import type { Post } from '../../lib/deliveries/attempt.ts';
import type { QueueMessage } from '../../lib/deliveries/messages.ts';
import type { ItemKind } from '../../lib/deployment.ts';
import { COMMON_HEADERS } from '../../lib/http/headers.ts';
import { methodNotAllowed, Problem, type ProblemCode, problemResult } from '../../lib/http/problems.ts';
import { proxyEvent } from '../unit/http/builders.ts';
import { afterFile } from './after-file.ts';
import { expectConformance } from './conformance.ts';
import { consumerOf, createEntry, type Handler, queueRecord, scheduledMessage, streamRecord } from './entries.ts';
import { RecordedDynamoDb } from './memory-table.ts';
import { requirePermission } from './permissions.ts';
import { faultsIn } from './receiver.ts';
import { type Command, isRead, runtimeWith, VARIABLES } from './runtime.ts';
import { type Answer, type Client, type CreatedProject, projectOf } from './service.ts';

const HOST = '127.0.0.1:3000';
const BASE_URL = `http://${HOST}`;
const ADDRESS = '127.0.0.1';
/** More work than any test needs. Work that repeats without an end fails its test. */
const MAX_RUNS = 100_000;
/** The time after which a queue passes a message on again. */
const VISIBILITY_MS = 185_000;
const routes = allOperations.map(({ method, path }) => ({
  method,
  resource: path,
  segments: path.slice(1).split('/'),
}));

interface MemoryServiceOptions {
  /** Environment variables of all functions, in addition to those of the local stack or instead of them. */
  variables?: Readonly<Record<string, string | undefined>>;
  /** Sends the requests of attempts over the network instead of to `endpoint`. */
  isPosting?: boolean;
  /** The state to start with. */
  from?: MemorySnapshot;
}

/** The state of a service without pending work. */
interface MemorySnapshot {
  now: number;
  /** The number of changes of the table. */
  changes: number;
  items: readonly Item[];
}

/** The invocation of a function, with its effects that have no result yet. */
interface Invocation {
  name: string;
  pending: Set<Command>;
  isOver: boolean;
}

/** The status code with which an endpoint responds. */
type Behaviour = number | ((post: Post, count: number) => number | Promise<number>);

/** The kinds of items that do not expire. */
const LASTING: ItemKind[] = [
  ...(['PROJECT', 'PROJECTS', 'EMAILS', 'KEY', 'KEYS', 'HOOKS', 'LOGS'] as const),
  ...(['COUNT', 'DOCS', 'REVISIONS', 'DELETION', 'VERSION'] as const),
];

/** The links of emails: pages of the dashboard that exist. */
const PAGE = '(settings|confirm-email/[\\w.-]+|keys/key_\\w+|webhooks/whk_\\w+(/deliveries/evt_\\w+)?)';
const EMAIL_LINK = new RegExp(`^${BASE_URL}/dashboard(#/(live|sandbox)/${PAGE})?$`);

/**
 * The whole API and the delivery behind it in this process: the real code from the authorizer to the stores, on the table in
 * memory (`replay.ts`). Every response is checked against the OpenAPI document, and no function can leave an effect to a later
 * invocation. By the clock, only requests and attempts take time, and work that is due later waits for `settle` or `advance`.
 */
export function memoryService({ variables = {}, isPosting = false, from }: MemoryServiceOptions = {}) {
  let now = from?.now ?? Date.UTC(2026, 0, 31, 12);
  const clock = () => now;
  const emails: (Email & { at: number })[] = [];
  const log: string[] = [];
  const failures: string[] = [];
  const errors: unknown[] = [];
  const endpoints = new Map<string, { behaviour: Behaviour; received: Post[] }>();
  const due: { at: number; run: () => Promise<unknown> }[] = [];
  const faults: {
    email?: Error;
    command?: (name: string, input: object) => Error | undefined;
    /** Decides when the commands of handlers and operators run, and whether they return. Commands of other functions always do. */
    around?: (command: Command, perform: () => Promise<object>) => Promise<object>;
    /** Decides the same for the commands of all functions. */
    aroundAll?: (command: Command, perform: () => Promise<object>) => Promise<object>;
  } = {};
  const handling = new AsyncLocalStorage<true>();
  const invocations = new AsyncLocalStorage<Invocation>();
  const late = new Set<string>();
  const unanswered: (() => void)[] = [];
  const checks: number[] = [];
  const messages: QueueMessage[] = [];
  let changes = 0;

  const later = (delayMs: number, run: () => Promise<unknown>) => void due.push({ at: now + delayMs, run });

  const db = new RecordedDynamoDb({ onChange });
  const line = (event: string, fields: object) => void log.push(JSON.stringify({ message: event, ...fields }));
  const runtime = runtimeWith(send, {
    clock,
    log: {
      info: line,
      warn: line,
      error: (event, { error, ...fields }) => {
        failures.push(event);
        errors.push(error);
        line(event, fields);
      },
    },
    variables: {
      ...VARIABLES,
      SOURCE_ADDRESSES: '192.0.2.1,192.0.2.2',
      ALLOW_PRIVATE_ENDPOINTS: 'true',
      BASE_URL,
      ...variables,
    },
  });
  const { table } = backendOf(runtime);
  afterFile(() => {
    const violations = [...endpoints.values()].flatMap(({ received }) => received.flatMap(faultsIn));
    expect([...new Set(violations)]).toEqual([]);
    expect([...late], 'effects that Lambda would freeze at the end of their invocation').toEqual([]);
    for (const { pk, expires } of db.items())
      if (expires === undefined) expect(LASTING).toContain(String(pk).split('#')[0]);
    for (const { text } of emails) for (const [link] of text.matchAll(/https?:\S+/g)) expect(link).toMatch(EMAIL_LINK);
  });
  db.copy(from?.items ?? []); // these changes have had their effects
  changes = from?.changes ?? 0;

  const entries = new Map<string, Handler>();
  /** Performs an invocation in the one execution environment of a function. */
  async function invoke(name: string, event: unknown): Promise<unknown> {
    const entry =
      entries.get(name) ??
      createEntry(name, runtime, { keeper: () => async () => {}, ...(!isPosting && { poster: () => post }) });
    entries.set(name, entry);
    const invocation: Invocation = { name, pending: new Set(), isOver: false };
    try {
      return await invocations.run(invocation, () => entry(event as never, {} as Context));
    } finally {
      invocation.isOver = true;
      for (const command of invocation.pending) late.add(`${name}: ${command.name}`);
    }
  }

  async function send(command: Command): Promise<object> {
    const around = handling.getStore() ? (faults.around ?? faults.aroundAll) : faults.aroundAll;
    const invocation = invocations.getStore();
    if (invocation) requirePermission(invocation.name, command);
    const act = () => (around ? around(command, () => perform(command)) : perform(command));
    if (!invocation || isRead(command.name)) return act();
    const { name, pending, isOver } = invocation;
    if (isOver) late.add(`${name}: ${command.name}`);
    pending.add(command);
    try {
      const response = await act();
      await newestFirst();
      return response;
    } finally {
      pending.delete(command);
    }
  }

  /** Waits for a turn in which no later effect is waiting, so that an effect that a function does not await ends after it. */
  function newestFirst(): Promise<void> {
    setImmediate(() => unanswered.pop()?.());
    return new Promise((resolve) => unanswered.push(resolve));
  }

  async function perform(command: Command): Promise<object> {
    const { name, input } = command;
    const fault = faults.command?.(name, input);
    if (fault) throw fault;
    if (name === 'SendEmail') return sendEmail(input);
    if (name === 'CreateSchedule') {
      const { at, queueUrl, body } = scheduledMessage(input);
      later(at - now, () => receive(queueUrl, body));
      return {};
    }
    if (name !== 'SendMessageBatch') return db.execute(command);
    for (const { MessageBody, DelaySeconds = 0 } of input.Entries) {
      if (input.QueueUrl === VARIABLES.CHECKS_QUEUE_URL) checks.push(DelaySeconds);
      later(DelaySeconds * 1000, () => receive(input.QueueUrl, MessageBody));
    }
    return {};
  }

  /** One email has one message for each recipient. */
  async function sendEmail({ Destination, Message, Tags }: SendEmailInput): Promise<object> {
    if (faults.email) throw faults.email;
    const [to] = Destination.ToAddresses;
    const { Subject, Body } = Message;
    const email = { projectId: Tags[0].Value, subject: Subject.Data, text: Body.Text.Data, html: Body.Html.Data };
    const last = emails.at(-1);
    const isSame = last?.text === email.text && last.subject === email.subject && !last.to.includes(to);
    if (isSame) emails.splice(-1, 1, { ...last, to: [...last.to, to] });
    else emails.push({ ...email, to: [to], at: now });
    return {};
  }

  function onChange(before: Item | undefined, after: Item | undefined): void {
    const pk = String(after?.pk);
    const record = streamRecord(before, after, String(++changes));
    if (after && !before && pk.startsWith('EVENT#')) later(0, () => invoke('fan-out', { Records: [record] }));
    if (after && pk.startsWith('HOOK#')) later(0, () => invoke('stats', { Records: [record], shardId: 'shard' }));
  }

  async function receive(queueUrl: string, body: string): Promise<void> {
    const consumer = consumerOf(queueUrl);
    const isDelivery = consumer.startsWith('deliver ');
    if (isDelivery) messages.push(JSON.parse(body));
    const response = (await invoke(consumer, { Records: [queueRecord(randomUUID(), body)] })) as SQSBatchResponse;
    if (response.batchItemFailures.length > 0) later(isDelivery ? 1000 : VISIBILITY_MS, () => receive(queueUrl, body));
  }

  async function post(request: Post) {
    const endpoint = endpoints.get(request.url);
    endpoint?.received.push(request);
    const behaviour = endpoint?.behaviour ?? 200;
    const given = typeof behaviour === 'number' ? behaviour : behaviour(request, endpoint?.received.length ?? 0);
    const statusCode = await given;
    const error = statusCode < 300 ? null : 'status_not_2xx';
    now += 20;
    return { statusCode, error, durationMs: 20, waitedMs: 10, excerpt: 'ok', headers: [['via', 'proxy'] as const] };
  }

  /** Does the work that is due by a time, in order. Without a time it does all work, and the clock jumps to each piece of it. */
  async function work(until = Number.POSITIVE_INFINITY): Promise<void> {
    for (let runs = 0; ; runs++) {
      due.sort((a, b) => a.at - b.at);
      const [next] = due;
      if (!next || next.at > until) return;
      if (runs === MAX_RUNS) throw new Error('The work does not end');
      due.shift();
      now = Math.max(now, next.at);
      await next.run();
    }
  }

  async function advance(ms: number): Promise<void> {
    const end = now + ms;
    await work(end);
    now = Math.max(now, end);
  }

  const as = (credential: string | null): Client => {
    const given: Record<string, string> = credential === null ? {} : { Authorization: `Bearer ${credential}` };
    return async (method, path, { body, headers, from } = {}) => {
      now++;
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const all = { Host: HOST, 'X-Forwarded-Proto': 'http', ...given, ...headers };
      const sent = { ...(text !== undefined && { 'Content-Type': 'application/json' }), ...all };
      const answer = answerOf(await respond(method, path, { text: text ?? null, headers: sent, from }));
      expectConformance(method, path, answer, body);
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
    const [, operation] = routeAt(method, route.resource) ?? [];
    const given = { httpMethod: method, resource: route.resource, body: text, headers, requestId };
    const event = proxyEvent({ ...given, authorizer: null });
    const { requestContext } = event;
    requestContext.identity.sourceIp = from;
    requestContext.path = pathname;
    event.path = pathname;
    event.pathParameters = parameters;
    event.queryStringParameters = Object.fromEntries(searchParams);
    event.multiValueQueryStringParameters = Object.fromEntries(
      [...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]),
    );
    const { Authorization } = headers;
    const multiValueHeaders = { ...(Authorization !== undefined && { Authorization: [Authorization] }) };
    const methodArn = 'arn:aws:execute-api:eu-central-1:1:api/live/GET/';
    const request = { ...event, methodArn, multiValueHeaders } as unknown as APIGatewayRequestAuthorizerEvent;
    if (operation?.callers !== 'anyone') {
      const decision = (await invoke('authorizer', request).catch(() => undefined)) as
        | APIGatewayAuthorizerResult
        | undefined;
      if (!decision) return reject(new Problem('unauthorized', 'Send a valid credential.'));
      assert.equal(decision.principalId, decision.context?.key_id); // in the access log, also for a token
      const problem = problemOf(decision);
      if (problem) return reject(problem);
      requestContext.authorizer = decision.context as never;
    }
    if (!operation || operation.function === 'dashboard')
      return reject(new Problem('route_not_found', 'The tests in memory have no such function.'));
    return handling.run(true, () => invoke(operation.function, event)) as Promise<APIGatewayProxyResult>;
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
    /** Their causes. */
    errors,
    faults,
    table,
    /** Invokes a function by its name in `functions/`. */
    invoke,
    as,
    /** Does all work that is due, now or later. */
    settle: () => work(),
    /** Adds an endpoint. Others respond with 200. */
    endpoint(behaviour: Behaviour = 200, url = `https://${randomUUID()}.example.com/hook`) {
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
    createProject: (input: unknown) => invoke('create-project', input) as Promise<CreatedProject>,
    /** Runs an operation on projects, like an operator. */
    administer: (input: unknown) => handling.run(true, () => invoke('projects', input)),
    /** Invokes a consumer with an event, so that `faults.around` decides about its commands, as about those of a handler. */
    consume: (name: string, event: unknown) => handling.run(true, () => invoke(name, event)),
    db,
    /** Does all work that is due, and returns the state after it. */
    async snapshot(): Promise<MemorySnapshot> {
      await work();
      return { now, changes, items: [...db.items()].map((item) => structuredClone(item)) };
    },
    /** Reports an address of a project, like SES. */
    async stopEmails(project_id: string, emailAddress: string, reason: 'bounced' | 'complained') {
      const mail = { tags: { project: [project_id] } };
      const recipients = [{ emailAddress }];
      const report =
        reason === 'bounced'
          ? { bounce: { bounceType: 'Permanent', bouncedRecipients: recipients } }
          : { complaint: { complainedRecipients: recipients } };
      await invoke('email-events', { detail: { mail, ...report } });
    },
    /** Confirms all new addresses of a project with the links that they received, like their owners. */
    async confirmAddresses(id: string) {
      for (const token of emails.filter(({ projectId }) => projectId === id).flatMap(tokensIn))
        expect(await as(null)('POST', '/v1/email-confirmations', { body: { token } })).toMatchObject({ status: 200 });
    },
    async project(name = 'Test') {
      const email = `${randomUUID()}@example.com`;
      now++;
      return projectOf((await invoke('create-project', { name, email })) as CreatedProject, as);
    },
  };
}

/** The token of the link in an email that asks the owner of an address. */
export const tokensIn = ({ text }: Pick<Email, 'text'>): string[] => /confirm-email\/(\S+)/.exec(text)?.slice(1) ?? [];

interface SendEmailInput {
  Destination: { ToAddresses: [string] };
  Message: { Subject: { Data: string }; Body: { Text: { Data: string }; Html: { Data: string } } };
  Tags: [{ Value: string }];
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
