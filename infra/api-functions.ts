import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { ApiFunction } from '../lib/api/operation.ts';
import type { ItemKind } from '../lib/deployment.ts';
import { BundledFunction } from './bundled-function.ts';
import type { DataTable, TableAction, TableGrant } from './data.ts';
import { writeSite } from './pages.ts';
import { grantSendEmail } from './sender.ts';
import type { Settings } from './settings.ts';
import { sharePrefix } from './throttles.ts';

interface FunctionRow {
  id: string;
  description: string;
  /** What it does with the table; without it, it does not know the table. */
  table?: TableGrant;
  sendsEmail?: boolean;
  memorySize?: number;
}

/** For operations with an Idempotency-Key: the response is stored, replayed, and released after a problem. */
const withIdempotency = (kinds: readonly ItemKind[], ...more: readonly TableAction[]): TableGrant => ({
  actions: ['get', 'put', 'update', 'delete', ...more],
  kinds: ['IDEMPOTENCY', ...kinds],
});

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
    table: withIdempotency(['KEY', 'PROJECT', 'AUDIT'], 'check'),
    sendsEmail: true,
  },
  tokens: { id: 'Tokens', description: 'Creates and revokes scoped tokens', table: withIdempotency(['KEY', 'AUDIT']) },
  project: {
    id: 'Project',
    description: 'The project and its audit log',
    table: { actions: ['get', 'query', 'put', 'update'], kinds: ['PROJECT', 'AUDIT'] },
    sendsEmail: true,
  },
  events: {
    id: 'Events',
    description: 'Publishes, reads and lists events',
    table: withIdempotency(['EVENT', 'PROJECT'], 'query', 'batch get'),
  },
  webhooks: {
    id: 'Webhooks',
    description: 'Webhooks and their deliveries',
    table: withIdempotency(['PROJECT', 'AUDIT', 'HOOKS', 'COUNT', 'EVENT', 'HOOK', 'FIGURES'], 'query', 'batch get'),
    memorySize: 1024, // the figures of 100 webhooks are up to 3,100 items to decode
  },
  documents: {
    id: 'Documents',
    description: 'Documents, sync and connections',
    table: withIdempotency(['PROJECT', 'DOCS', 'REVISIONS', 'CONNECTION', 'SYNC', 'EVENT'], 'query', 'batch get'),
  },
  leaks: {
    id: 'Leaks',
    description: 'Takes reports of keys that were found in public',
    table: { actions: ['get', 'put', 'update', 'check'], kinds: ['KEY', 'PROJECT', 'AUDIT'] },
    sendsEmail: true,
  },
  dashboard: { id: 'Dashboard', description: 'The dashboard, the API reference and the OpenAPI document' },
};

export type ApiFunctions = Record<keyof typeof FUNCTIONS, BundledFunction>;

export function createApiFunctions(scope: Construct, settings: Settings, table: DataTable): ApiFunctions {
  const { secretScanningKeysUrl: keysUrl } = settings;
  const created = Object.entries(FUNCTIONS).map(([name, { id, table: granted, sendsEmail, ...given }]) => {
    const fn = new BundledFunction(scope, id, {
      name,
      ...(name === 'dashboard' && { entry: 'dashboard/server', addFiles: writeSite }),
      ...given,
      settings,
      environment: {
        ...(granted && { TABLE_NAME: table.name }),
        ...(sendsEmail && { SENDER_EMAIL: settings.senderEmail }),
        ...(name === 'authorizer' && { SHARE_PREFIX: sharePrefix(settings) }),
        ...(name === 'leaks' && keysUrl !== '' && { SECRET_SCANNING_KEYS_URL: keysUrl }),
      },
      timeout: Duration.seconds(20),
    });
    if (granted) table.grant(fn, granted);
    if (sendsEmail) grantSendEmail(fn, settings.senderEmail);
    return [name, fn];
  });
  const functions = Object.fromEntries(created) as ApiFunctions;
  for (const fn of [functions.keys, functions.leaks]) table.grantKeysOfProject(fn);
  table.grantDeliveriesByStatus(functions.webhooks);
  return functions;
}
