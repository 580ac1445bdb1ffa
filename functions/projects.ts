import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { deliveryQueue } from '../lib/deliveries/queue-store.ts';
import { apiKeys } from '../lib/keys/store.ts';
import { projectsHandler } from '../lib/projects/administration.ts';
import { auditLog } from '../lib/projects/audit-store.ts';
import { projectData } from '../lib/projects/data-store.ts';
import { projectExport } from '../lib/projects/export-store.ts';
import { projects } from '../lib/projects/store.ts';
import { webhooks } from '../lib/webhooks/store.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  const { table } = backend;
  return projectsHandler({
    ...backend,
    projects: projects(table),
    audit: auditLog(table),
    webhooks: webhooks(table),
    keys: apiKeys(table),
    data: projectData(table),
    exportPage: projectExport(table),
    // Reads its variable when it sends, so that the other operations work while a deployment has not added it yet.
    enqueue: (messages, delaySeconds) => deliveryQueue(runtime, 'quick').sendAll(messages, delaySeconds),
  });
};
export const handler = create(lambda);
