import { auditLog } from '../lib/aws/dynamodb/audit.ts';
import { apiKeys } from '../lib/aws/dynamodb/keys.ts';
import { projectData } from '../lib/aws/dynamodb/project-data.ts';
import { projectExport } from '../lib/aws/dynamodb/project-export.ts';
import { projects } from '../lib/aws/dynamodb/projects.ts';
import { webhooks } from '../lib/aws/dynamodb/webhooks.ts';
import { createProject } from '../lib/handlers/create-project.ts';
import { type ProjectsDeps, projectsHandler } from '../lib/handlers/projects.ts';
import type { Platform } from './wiring.ts';

const stores = ({ table }: Platform) => ({ projects: projects(table), audit: auditLog(table) });

export const projectCreation = (platform: Platform) => createProject({ ...platform, ...stores(platform) });

export const projectAdministration = (platform: Platform & Pick<ProjectsDeps, 'enqueue'>) =>
  projectsHandler({
    ...platform,
    ...stores(platform),
    webhooks: webhooks(platform.table),
    keys: apiKeys(platform.table),
    data: projectData(platform.table),
    exportPage: projectExport(platform.table),
  });
