import type { Backend as Platform } from '../lib/aws/backend.ts';
import { apiKeys } from '../lib/keys/store.ts';
import { type ProjectsDeps, projectsHandler } from '../lib/projects/administration.ts';
import { auditLog } from '../lib/projects/audit-store.ts';
import { createProject } from '../lib/projects/create-project.ts';
import { projectData } from '../lib/projects/data-store.ts';
import { projectExport } from '../lib/projects/export-store.ts';
import { projects } from '../lib/projects/store.ts';
import { webhooks } from '../lib/webhooks/store.ts';

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
