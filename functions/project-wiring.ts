import { auditLog } from '../lib/aws/dynamodb/audit.ts';
import { apiKeys } from '../lib/aws/dynamodb/keys.ts';
import { projectData } from '../lib/aws/dynamodb/project-data.ts';
import { projectExport } from '../lib/aws/dynamodb/project-export.ts';
import { projects } from '../lib/aws/dynamodb/projects.ts';
import { createProject } from '../lib/handlers/create-project.ts';
import { projectsHandler } from '../lib/handlers/projects.ts';
import type { Platform } from './wiring.ts';

const stores = ({ table }: Platform) => ({ projects: projects(table), audit: auditLog(table) });

export const projectCreation = (platform: Platform) => createProject({ ...platform, ...stores(platform) });

export const projectAdministration = (platform: Platform) =>
  projectsHandler({
    ...platform,
    ...stores(platform),
    keys: apiKeys(platform.table),
    data: projectData(platform.table),
    exportPage: projectExport(platform.table),
  });
