import { deliveryOperations, eventDeliveryOperations } from '../deliveries/operations.ts';
import { documentOperations } from '../documents/operations.ts';
import { eventTypeOperations } from '../events/event-type-operations.ts';
import { eventOperations } from '../events/operations.ts';
import { type Operation, operation } from '../http/operation.ts';
import { type ApiFunction, allowsCrossOrigin, methodsOf } from '../http/route.ts';
import { linkOperations } from '../keys/link-operations.ts';
import { keyOperations } from '../keys/operations.ts';
import { tokenOperations } from '../keys/token-operations.ts';
import { projectOperations } from '../projects/operations.ts';
import { webhookOperations } from '../webhooks/operations.ts';

/** Every operation for programs. */
export const operations = {
  ...keyOperations,
  ...tokenOperations,
  ...linkOperations,
  ...projectOperations,
  ...webhookOperations,
  ...deliveryOperations,
  ...eventOperations,
  ...eventTypeOperations,
  ...eventDeliveryOperations,
  ...documentOperations,
} satisfies Record<string, Operation>;

/** The pages for browsers: files that the synthesis creates, without secrets. */
const PAGES = {
  '/': 'Redirect to the dashboard',
  '/v1/openapi.json': 'Get the OpenAPI 3.1 document',
  '/dashboard': 'Open the dashboard',
  '/dashboard/{file}': 'Get a file of the dashboard',
  '/docs': 'Open the documentation',
  '/docs/{file}': 'Get a page or file of the documentation',
  '/llms.txt': 'List the pages of the documentation as Markdown',
  '/.well-known/security.txt': 'Get the address for reports of vulnerabilities (RFC 9116), if the operator has set one',
};
const pageOperations = Object.entries(PAGES).map(([path, summary]): Operation => {
  const shared = {
    method: 'GET',
    function: 'dashboard',
    callers: 'anyone',
    permissions: [],
    responses: { 200: null },
  } as const;
  return operation({ ...shared, path: path as Operation['path'], summary });
});

export type Operations = typeof operations;
export type OperationId = keyof Operations;
/** The operations of one function. */
export type OperationOf<Name extends ApiFunction> = {
  [Id in OperationId]: Operations[Id]['function'] extends Name ? Id : never;
}[OperationId];

export const apiOperations = Object.values(operations) as readonly Operation[];

/** Every HTTP operation, with the pages. Other routes do not exist. */
export const allOperations: readonly Operation[] = [...apiOperations, ...pageOperations];

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
