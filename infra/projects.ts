import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { BundledFunction } from './bundled-function.ts';
import type { DataTable } from './data.ts';
import type { Settings } from './settings.ts';

interface ProjectFunctionProps {
  table: DataTable;
  settings: Settings;
}

/*
 * The functions for operators have no route. Only principals of the account that can invoke them can use them.
 */

/** The function that creates projects. */
export function createProjectCreation(scope: Construct, { table, settings }: ProjectFunctionProps): BundledFunction {
  const creation = new BundledFunction(scope, 'CreateProject', {
    name: 'create-project',
    description: 'Creates a project and its first admin key: {name, email}',
    settings,
  });
  table.grant(creation, { PROJECT: ['put'], KEY: ['put'], AUDIT: ['put'], VERSION: ['put'] });
  return creation;
}

/** The function behind `npm run projects`. */
export function createProjectAdministration(
  scope: Construct,
  { table, settings }: ProjectFunctionProps,
): BundledFunction {
  const projects = new BundledFunction(scope, 'Projects', {
    name: 'projects',
    description: 'Lists, suspends, exports and deletes projects, creates admin keys, and enables webhooks',
    settings,
    timeout: Duration.minutes(1),
    memorySize: 1024,
  });
  table.grant(projects, {
    PROJECT: ['get', 'query', 'update', 'delete'],
    AUDIT: ['query', 'put', 'delete'],
    HOOKS: ['get', 'query', 'update', 'delete'],
    EVENT: ['query', 'delete'],
    HOOK: ['query', 'delete'],
    FIGURES: ['query', 'delete'],
    DOCS: ['query', 'delete'],
    DELETION: ['get', 'put', 'update'],
    EMAILS: ['delete'],
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
