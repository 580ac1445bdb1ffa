import { InvalidRequest } from './invalid-request.ts';

/** A request to a service, with the path after its prefix. */
export interface RawRequest {
  method: string;
  /** The operation, if the protocol contains it. */
  action: string;
  path: string;
  body: string;
}

/** An operation of the service models and its input. */
export interface Operation {
  operation: string;
  input: Record<string, unknown>;
}

/** Reads a request in the protocol of its service. Returns `undefined` for requests that are not AWS operations in use. */
export function operationOf(service: string, request: RawRequest): Operation | undefined {
  switch (service) {
    case 'scheduler':
      return schedulerOperation(request);
    case 'ses':
      return { operation: request.action, input: formInput(request.body) };
    case 'dynamodb':
    case 'sqs':
      return { operation: request.action, input: parsed(request.body) };
    default:
      return undefined; // not an AWS service, or S3, which checks its one operation itself
  }
}

/** The name is in the path. Other members are in the body. */
function schedulerOperation({ method, path, body }: RawRequest): Operation | undefined {
  const [, resource, name = ''] = path.split('/');
  if (resource !== 'schedules' || method !== 'POST') return undefined;
  return { operation: 'CreateSchedule', input: { Name: decodeURIComponent(name), ...parsed(body) } };
}

/** The Query protocol: `Destination.ToAddresses.member.1=…` */
function formInput(body: string): Record<string, unknown> {
  const input: Tree = {};
  for (const [name, value] of new URLSearchParams(body)) {
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
  return listsOf(input) as Record<string, unknown>;
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
