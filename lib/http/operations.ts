import * as v from 'valibot';
import { statOperations } from '../deliveries/operations.ts';
import { documentOperations } from '../documents/operations.ts';
import { eventOperations } from '../events/operations.ts';
import { keyOperations } from '../keys/operations.ts';
import { tokenOperations } from '../keys/token-operations.ts';
import { projectOperations } from '../projects/operations.ts';
import { webhookOperations } from '../webhooks/operations.ts';
import { type ApiFunction, allowsCrossOrigin, type Operation, operation } from './operation.ts';

const page = { function: 'dashboard', callers: 'anyone', method: 'GET', problems: ['route_not_found'] } as const;
const html = { ...page, produces: 'text/html', responses: { 200: v.string() } } as const;
const text = { ...page, produces: 'text/plain', responses: { 200: v.string() } } as const;
const file = {
  ...page,
  produces: '*/*',
  responses: { 200: v.string() },
  parameters: {
    file: {
      resource: 'file',
      schema: v.string(),
      description: 'The name of a page, or of a file with the hash of its content.',
      example: 'app-5XQ3TN2K.js',
    },
  },
} as const;

/** The pages for browsers: files that the synthesis creates, without secrets. */
const pageOperations = {
  openHome: operation({
    ...page,
    path: '/',
    summary: 'Redirect to the dashboard',
    responses: { 302: null },
    responseHeaders: ['Location'],
    problems: [],
  }),
  getOpenApi: operation({
    ...page,
    path: '/v1/openapi.json',
    summary: 'Get the OpenAPI 3.1 document',
    responses: { 200: v.looseObject({ openapi: v.string() }) },
  }),
  openDashboard: operation({ ...html, path: '/dashboard', summary: 'Open the dashboard' }),
  getDashboardFile: operation({ ...file, path: '/dashboard/{file}', summary: 'Get a file of the dashboard' }),
  openReference: operation({ ...html, path: '/docs', summary: 'Open the documentation' }),
  getReferenceFile: operation({
    ...file,
    path: '/docs/{file}',
    summary: 'Get a page or file of the documentation',
  }),
  listPages: operation({ ...text, path: '/llms.txt', summary: 'List the pages of the documentation as Markdown' }),
  getSecurityContact: operation({
    ...text,
    path: '/.well-known/security.txt',
    summary: 'Get the address for reports of vulnerabilities (RFC 9116), if the operator has set one',
  }),
};

const programOperations = {
  ...keyOperations,
  ...tokenOperations,
  ...projectOperations,
  ...webhookOperations,
  ...statOperations,
  ...eventOperations,
  ...documentOperations,
};

/** Every HTTP operation. Other routes do not exist. */
export const operations = { ...programOperations, ...pageOperations } satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationId = keyof Operations;
/** The operations of one function. */
export type OperationOf<Name extends ApiFunction> = {
  [Id in OperationId]: Operations[Id]['function'] extends Name ? Id : never;
}[OperationId];

export const allOperations = Object.values(operations) as readonly Operation[];

/** The operations for programs, without web pages. */
export const apiOperations = Object.values(programOperations) as readonly Operation[];

/** Every GET also supports HEAD, which returns no content (RFC 9110 §9.3.2). */
export const methodsOf = ({ method }: Pick<Operation, 'method'>): string[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method];

/** Operations by method and path, because every request looks one up. */
const operationsByRoute = new Map(
  (Object.entries(operations) as [OperationId, Operation][]).flatMap((entry) =>
    methodsOf(entry[1]).map((method) => [`${method} ${entry[1].path}`, entry]),
  ),
);

export const operationAt = (method: string, resource: string): [OperationId, Operation] | undefined =>
  operationsByRoute.get(`${method} ${resource}`);

/** The operations of every path. */
export const operationsByPath: ReadonlyMap<string, readonly Operation[]> = new Map(
  allOperations.map(({ path }) => [path, allOperations.filter((operation) => operation.path === path)]),
);

/** The value of `Allow` for every path. API Gateway responds to OPTIONS where other origins can call. */
export const allowedMethods: Readonly<Record<string, string[]>> = Object.fromEntries(
  Array.from(operationsByPath, ([path, all]) => [
    path,
    [...all.flatMap(methodsOf), ...(all.some(allowsCrossOrigin) ? ['OPTIONS'] : [])],
  ]),
);
