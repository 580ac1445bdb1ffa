import type http from 'node:http';
import { InvalidRequest } from './invalid-request.ts';

/** A request to a service, with the path after its prefix. */
export interface RawRequest {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** An operation of a service, such as `PutItem`, and its input. */
export interface Operation {
  action: string;
  input: Record<string, unknown>;
}

/** Reads a request in the protocol of its service. Returns `undefined` for a service without a model. */
export function operationOf(service: string, request: RawRequest): Operation | undefined {
  switch (service) {
    case 'scheduler':
      return schedulerOperation(request);
    case 'ses':
      return formOperation(request);
    case 'dynamodb':
    case 'sqs':
      return jsonOperation(request);
    default:
      return undefined; // not an AWS service, or S3, which checks its one operation itself
  }
}

/** Reads a request in the JSON protocol of DynamoDB and SQS. The header is like `DynamoDB_20120810.PutItem`. */
export function jsonOperation({ headers, body }: Pick<RawRequest, 'headers' | 'body'>): Operation {
  const target = String(headers['x-amz-target'] ?? '');
  return { action: target.split('.').at(-1) ?? '', input: parsed(body) };
}

/** The name is in the path. Other members are in the body. */
function schedulerOperation({ method, path, body }: RawRequest): Operation {
  const [, resource, name = ''] = path.split('/');
  const action = resource === 'schedules' && method === 'POST' ? 'CreateSchedule' : `${method} ${path}`;
  return { action, input: { Name: decodeURIComponent(name), ...parsed(body) } };
}

/** The Query protocol: `Action=SendEmail&Destination.ToAddresses.member.1=…` */
function formOperation({ body }: RawRequest): Operation {
  const input: Tree = {};
  const form = new URLSearchParams(body);
  for (const [name, value] of form) {
    if (name === 'Action' || name === 'Version') continue;
    const path = name.split('.');
    const last = path.pop() ?? '';
    let at = input;
    for (const part of path) {
      const next = at[part];
      at = at[part] = typeof next === 'object' ? next : {};
    }
    at[last] = value;
  }
  return { action: form.get('Action') ?? '', input: listsOf(input) as Record<string, unknown> };
}

interface Tree {
  [member: string]: Tree | string;
}

/** A list is a member called `member`, and its entries are numbered from 1. */
function listsOf(tree: Tree | string): unknown {
  if (typeof tree === 'string') return tree;
  if (typeof tree.member === 'object') return Object.values(tree.member).map(listsOf);
  return Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, listsOf(value)]));
}

function parsed(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body || '{}');
  } catch {
    throw new InvalidRequest('The body is not JSON', 'SerializationException');
  }
}
