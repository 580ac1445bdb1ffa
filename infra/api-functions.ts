import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { ApiFunction } from '../lib/api/operation.ts';
import { BundledFunction } from './bundled-function.ts';
import type { DataTable, TableAction, TableGrant } from './data.ts';
import { writePages } from './pages.ts';
import type { Settings } from './settings.ts';

interface FunctionRow {
  id: string;
  description: string;
  /** What it does with the table; without it, it does not know the table. */
  table?: TableGrant;
}

/** A response under an Idempotency-Key is stored, replayed, and released after a problem. */
const IDEMPOTENCY = ['get', 'put', 'update', 'delete'] as const satisfies TableAction[];

/** The Lambda functions behind the API and what each may do. Queues are granted by whoever has them. */
const FUNCTIONS: Record<ApiFunction | 'authorizer', FunctionRow> = {
  authorizer: {
    id: 'Authorize',
    description: 'Decides who may call what',
    table: { actions: ['get', 'update'], kinds: ['KEY'] },
  },
  keys: {
    id: 'Keys',
    description: 'Creates, rotates, revokes and restricts API keys',
    table: { actions: [...IDEMPOTENCY, 'check'], kinds: ['IDEMPOTENCY', 'KEY', 'PROJECT'] },
  },
  tokens: {
    id: 'Tokens',
    description: 'Creates scoped tokens',
    table: { actions: IDEMPOTENCY, kinds: ['IDEMPOTENCY', 'KEY'] },
  },
  events: {
    id: 'Events',
    description: 'Publishes and reads events',
    table: { actions: IDEMPOTENCY, kinds: ['IDEMPOTENCY', 'EVENT'] },
  },
  webhooks: {
    id: 'Webhooks',
    description: 'Webhooks and their deliveries',
    table: {
      actions: [...IDEMPOTENCY, 'query'],
      kinds: ['IDEMPOTENCY', 'PROJECT', 'HOOKS', 'COUNT', 'EVENT', 'HOOK'],
    },
  },
  documents: {
    id: 'Documents',
    description: 'Documents, sync and connections',
    table: {
      actions: [...IDEMPOTENCY, 'query'],
      kinds: ['IDEMPOTENCY', 'PROJECT', 'DOCS', 'CONNECTION', 'SYNC', 'EVENT'],
    },
  },
  dashboard: { id: 'Dashboard', description: 'The dashboard, the API reference and the OpenAPI document' },
};

export type ApiFunctions = Record<keyof typeof FUNCTIONS, BundledFunction>;

export function createApiFunctions(scope: Construct, settings: Settings, table: DataTable): ApiFunctions {
  const created = Object.entries(FUNCTIONS).map(([name, { id, description, table: granted }]) => {
    const fn = new BundledFunction(scope, id, {
      name,
      ...(name === 'dashboard' && { entry: 'dashboard/server', addFiles: writePages }),
      description,
      settings,
      environment: granted ? { TABLE_NAME: table.name } : {},
      timeout: Duration.seconds(20),
    });
    if (granted) table.grant(fn, granted);
    return [name, fn];
  });
  const functions = Object.fromEntries(created) as ApiFunctions;
  table.grantKeysOfProject(functions.keys);
  return functions;
}
