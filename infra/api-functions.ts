import type { Construct } from 'constructs';
import { writeSite } from '../functions/site/build.ts';
import type { ApiFunction } from '../lib/http/operation.ts';
import { BundledFunction } from './bundled-function.ts';
import type { DataTable } from './data.ts';
import type { Egress } from './egress.ts';
import type { Sender } from './sender.ts';
import type { Settings } from './settings.ts';
import { IDEMPOTENCY, type TableGrant } from './table-grants.ts';
import { sharePrefix } from './throttles.ts';

interface FunctionRow {
  id: string;
  description: string;
  /** The permissions for the table. Without it, the function has no access to the table. */
  table?: TableGrant;
  sendsEmail?: boolean;
  memorySize?: number;
}

/** The Lambda functions of the API and their permissions. The constructs that own queues grant access to them. */
const FUNCTIONS: Record<ApiFunction | 'authorizer', FunctionRow> = {
  authorizer: {
    id: 'Authorize',
    description: 'Decides who may call what',
    table: { KEY: ['get', 'batch get', 'update'], PROJECT: ['get', 'batch get'] },
  },
  keys: {
    id: 'Keys',
    description: 'Creates, rotates, revokes and restricts API keys',
    table: {
      ...IDEMPOTENCY,
      KEY: ['get', 'put', 'update', 'check'],
      PROJECT: ['get'],
      EMAILS: ['get', 'put'],
      AUDIT: ['put'],
    },
    sendsEmail: true,
  },
  tokens: {
    id: 'Tokens',
    description: 'Creates, verifies and revokes scoped tokens',
    table: { ...IDEMPOTENCY, KEY: ['get', 'update'], AUDIT: ['put'] },
  },
  project: {
    id: 'Project',
    description: 'The project and its audit log',
    table: { PROJECT: ['get', 'update'], EMAILS: ['get', 'put'], AUDIT: ['query', 'put'] },
    sendsEmail: true,
  },
  events: {
    id: 'Events',
    description: 'Publishes, reads and lists events',
    table: { ...IDEMPOTENCY, PROJECT: ['get'], EVENT: ['get', 'batch get', 'query', 'put'] },
  },
  webhooks: {
    id: 'Webhooks',
    description: 'Webhooks and their deliveries',
    table: {
      ...IDEMPOTENCY,
      PROJECT: ['get'],
      AUDIT: ['put'],
      HOOKS: ['get', 'query', 'put', 'update', 'delete'],
      COUNT: ['update'],
      EVENT: ['get', 'query', 'put'],
      HOOK: ['get', 'batch get', 'query', 'update'],
      FIGURES: ['query'],
    },
    memorySize: 1024, // the stats of 100 webhooks are up to 3,100 items to decode
  },
  documents: {
    id: 'Documents',
    description: 'Documents, sync and connections',
    table: {
      PROJECT: ['get'],
      DOCS: ['get', 'batch get', 'query', 'put'],
      REVISIONS: ['query', 'put'],
      CONNECTION: ['get', 'put', 'delete'],
      SYNC: ['update'],
      EVENT: ['put'],
    },
  },
  dashboard: { id: 'Dashboard', description: 'The dashboard, the API reference and the OpenAPI document' },
};

export type ApiFunctions = Record<keyof typeof FUNCTIONS, BundledFunction>;

export function createApiFunctions(
  scope: Construct,
  {
    settings,
    table,
    sender,
    egress,
  }: { settings: Settings; table: DataTable; sender: Sender; egress: Egress | undefined },
): ApiFunctions {
  const created = Object.entries(FUNCTIONS).map(([name, { id, table: granted, sendsEmail, ...given }]) => {
    const fn = new BundledFunction(scope, id, {
      name,
      ...(name === 'dashboard' && { addFiles: (directory: string) => writeSite(directory, settings.securityContact) }),
      ...given,
      settings,
      environment: {
        ...(name === 'authorizer' && {
          SHARE_PREFIX: sharePrefix(settings),
          PROJECT_REQUESTS_PER_SECOND: String(settings.projectThrottleRate),
        }),
        ...(name === 'project' && egress && { SOURCE_ADDRESSES: egress.addresses.join(',') }),
      },
    });
    if (granted) table.grant(fn, granted);
    if (sendsEmail) sender.grant(fn);
    return [name, fn];
  });
  const functions = Object.fromEntries(created) as ApiFunctions;
  table.grantKeysOfProject(functions.keys);
  table.grantDeliveriesByStatus(functions.webhooks);
  return functions;
}
