import { Duration, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { writeSite } from '../functions/site/build.ts';
import { BY_PROJECT, BY_STATUS, BY_TYPE } from '../lib/deployment.ts';
import type { ApiFunction } from '../lib/http/route.ts';
import { BundledFunction, type BundledFunctionProps } from './bundled-function.ts';
import { type DataTable, IDEMPOTENCY, type TableGrant } from './data.ts';
import type { Sender } from './sender.ts';
import type { Settings } from './settings.ts';
import { sharePrefix } from './throttles.ts';

interface FunctionRow extends Pick<BundledFunctionProps, 'description' | 'timeout' | 'memorySize'> {
  id: string;
  /** The permissions for the table. Without it, the function has no access to the table. */
  table?: TableGrant;
  sendsEmail?: boolean;
}

/**
 * The Lambda functions that respond to requests, by their name in functions/, and their permissions. The constructs that own queues
 * grant access to them. The last two are for operators and have no route. Only principals of the account that can invoke them can
 * use them.
 */
const FUNCTIONS: Record<ApiFunction | 'authorizer' | 'create-project' | 'projects', FunctionRow> = {
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
      KEY: ['get', 'batch get', 'put', 'update', 'check'],
      KEYS: ['get', 'put', 'update'],
      PROJECT: ['get'],
      EMAILS: ['get', 'put'],
      AUDIT: ['put'],
    },
    sendsEmail: true,
  },
  tokens: {
    id: 'Tokens',
    description: 'Creates, verifies and revokes scoped tokens',
    table: { ...IDEMPOTENCY, KEY: ['get', 'update'], KEYS: ['query', 'update'], AUDIT: ['put'] },
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
    table: {
      ...IDEMPOTENCY,
      PROJECT: ['get'],
      EVENT: ['get', 'batch get', 'query', 'put'],
      HOOKS: ['query'],
      HOOK: ['batch get'],
    },
  },
  webhooks: {
    id: 'Webhooks',
    description: 'Webhooks and their deliveries',
    table: {
      ...IDEMPOTENCY,
      PROJECT: ['get'],
      AUDIT: ['put'],
      HOOKS: ['get', 'query', 'put', 'update', 'delete'],
      LOGS: ['put', 'update'],
      COUNT: ['update'],
      EVENT: ['get', 'query', 'put'],
      HOOK: ['get', 'batch get', 'query', 'update'],
      RECOVERY: ['get', 'put', 'update'],
      FIGURES: ['query'],
    },
    memorySize: 1024, // the stats of 100 webhooks are up to 3,100 items to decode
  },
  documents: {
    id: 'Documents',
    description: 'Documents, sync and connections',
    table: {
      ...IDEMPOTENCY,
      PROJECT: ['get'],
      DOCS: ['get', 'batch get', 'query', 'put', 'check'],
      REVISIONS: ['query', 'put'],
      CHANGES: ['query', 'put'],
      CONNECTION: ['get', 'put', 'delete'],
      ENGINE: ['get', 'batch get', 'put', 'update', 'delete'],
      SYNC: ['get', 'batch get', 'put', 'update'],
      EVENT: ['put'],
    },
  },
  dashboard: { id: 'Dashboard', description: 'The dashboard, the API reference and the OpenAPI document' },
  'create-project': {
    id: 'CreateProject',
    description: 'Creates a project and its first admin key: {name, email}',
    table: {
      PROJECT: ['put'],
      PROJECTS: ['put'],
      KEY: ['put'],
      KEYS: ['put'],
      AUDIT: ['put'],
      VERSION: ['update'],
    },
  },
  projects: {
    id: 'Projects',
    description: 'Lists, suspends, exports and deletes projects, creates admin keys, and enables webhooks',
    table: {
      PROJECT: ['get', 'query', 'update', 'delete'],
      PROJECTS: ['query', 'delete'],
      AUDIT: ['query', 'put', 'delete'],
      HOOKS: ['query', 'update', 'delete'],
      LOGS: ['get', 'query', 'delete'],
      EVENT: ['batch get', 'delete'],
      HOOK: ['query', 'delete'],
      FIGURES: ['query', 'delete'],
      DOCS: ['query', 'delete'],
      DELETION: ['get', 'put', 'update'],
      EMAILS: ['query keys', 'delete'],
      KEY: ['put', 'delete'],
      KEYS: ['get', 'query keys', 'put', 'update', 'delete'],
      COUNT: ['query keys', 'delete'],
      SLOTS: ['query keys', 'delete'],
      RECOVERY: ['put', 'query keys', 'delete'],
      REVISIONS: ['query keys', 'delete'],
      CHANGES: ['query keys', 'delete'],
      CONNECTION: ['query keys', 'delete'],
      ENGINE: ['query keys', 'delete'],
      SYNC: ['query keys', 'delete'],
      IDEMPOTENCY: ['query keys', 'delete'],
    },
    timeout: Duration.minutes(1),
    memorySize: 1024,
  },
};

export type Functions = Record<keyof typeof FUNCTIONS, BundledFunction>;

export interface FunctionsProps {
  settings: Settings;
  table: DataTable;
  sender: Sender;
  /** The fixed addresses of deliveries, which projects can read. */
  sourceAddresses: readonly string[];
}

export function createFunctions(scope: Construct, props: FunctionsProps): Functions {
  const { settings, table, sender, sourceAddresses } = props;
  const addSite = (directory: string) => writeSite(directory, settings.securityContact ?? '');
  const created = Object.entries(FUNCTIONS).map(([name, { id, table: granted, sendsEmail, ...options }]) => {
    const fn = new BundledFunction(scope, id, { name, ...(name === 'dashboard' && { addFiles: addSite }), ...options });
    if (granted) table.grant(fn, granted);
    if (sendsEmail) sender.grant(fn);
    return [name, fn];
  });
  const functions = Object.fromEntries(created) as Functions;
  const { authorizer, events, keys, project, projects, webhooks } = functions;
  authorizer.addEnvironment('SHARE_PREFIX', sharePrefix(Stack.of(scope).stackName));
  if (sourceAddresses.length > 0) project.addEnvironment('SOURCE_ADDRESSES', sourceAddresses.join(','));
  for (const fn of [keys, projects]) table.grantIndex(fn, BY_PROJECT);
  for (const fn of [events, projects]) table.grantIndex(fn, BY_TYPE);
  table.grantIndex(webhooks, BY_STATUS);
  return functions;
}
