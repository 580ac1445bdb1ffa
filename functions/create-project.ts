import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { auditLog } from '../lib/projects/audit-store.ts';
import { createProject } from '../lib/projects/create-project.ts';
import { projects } from '../lib/projects/store.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return createProject({ ...backend, projects: projects(backend.table), audit: auditLog(backend.table) });
};
export const handler = create(lambda);
