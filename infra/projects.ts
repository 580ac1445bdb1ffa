import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { BundledFunction } from './bundled-function.ts';
import type { DataTable } from './data.ts';
import type { Settings } from './settings.ts';

/** The function behind `npm run projects`, without a route. Only principals of the account that can invoke it can use it. */
export function createProjects(
  scope: Construct,
  { table, settings }: { table: DataTable; settings: Settings },
): BundledFunction {
  const projects = new BundledFunction(scope, 'Projects', {
    name: 'projects',
    description: 'Lists, suspends, exports and deletes projects, and creates admin keys',
    settings,
    environment: { TABLE_NAME: table.name },
    timeout: Duration.minutes(1),
    memorySize: 1024,
  });
  table.grant(projects, {
    PROJECT: ['get', 'query', 'update', 'delete'],
    AUDIT: ['query', 'put', 'delete'],
    HOOKS: ['query', 'delete'],
    EVENT: ['query', 'delete'],
    HOOK: ['query', 'delete'],
    FIGURES: ['query', 'delete'],
    DOCS: ['query', 'delete'],
    DELETION: ['get', 'put', 'update'],
    KEY: ['put', 'delete'],
    COUNT: ['delete'],
    SLOTS: ['delete'],
    REVISIONS: ['delete'],
    CONNECTION: ['delete'],
    SYNC: ['delete'],
    IDEMPOTENCY: ['delete'],
  });
  table.grantKeysOfProject(projects);
  table.grantScanOfKeys(projects);
  return projects;
}
