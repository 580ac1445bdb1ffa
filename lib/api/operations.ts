import type { Permission } from '../access/tokens.ts';
import { documentOperations } from './documents.ts';
import { eventOperations } from './events.ts';
import { keyOperations } from './keys.ts';
import { type ApiFunction, type CallerType, mayCall, type Operation } from './operation.ts';
import { pageOperations } from './site.ts';
import { tokenOperations } from './tokens.ts';
import { webhookOperations } from './webhooks.ts';

/** Every HTTP operation, once. A route that is not here does not exist. */
export const operations = {
  ...keyOperations,
  ...tokenOperations,
  ...webhookOperations,
  ...eventOperations,
  ...documentOperations,
  ...pageOperations,
} satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationId = keyof Operations;
/** The operations of one function. */
export type OperationOf<Name extends ApiFunction> = {
  [Id in OperationId]: Operations[Id]['function'] extends Name ? Id : never;
}[OperationId];

export const allOperations = Object.values(operations) as readonly Operation[];

/** What a caller may call, as `METHOD/path` with `*` for parameters: the resources of the authorizer's policy. */
export function allowedRoutes(type: CallerType, permissions: readonly Permission[]): string[] {
  return allOperations
    .filter((operation) => mayCall(operation, type, permissions))
    .map(({ method, path }) => `${method}${path.replace(/\{\w+\}/g, '*')}`);
}

export function operationAt(method: string, resource: string): [OperationId, Operation] | undefined {
  const found = Object.entries(operations).find(
    ([, operation]) => operation.method === method && operation.path === resource,
  );
  return found as [OperationId, Operation] | undefined;
}
