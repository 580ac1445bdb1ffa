import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { deliveryQueue } from '../lib/deliveries/queue-store.ts';
import { projectsHandler } from '../lib/projects/administration.ts';
import { projectData } from '../lib/projects/data-store.ts';
import { projectExport } from '../lib/projects/export-store.ts';
import { stores } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return projectsHandler({
    ...backend,
    ...stores(backend),
    data: projectData(backend.table),
    exportPage: projectExport(backend.table),
    // Reads its variable when it sends, so that the other operations work while a deployment has not added it yet.
    enqueue: (messages, delaySeconds) => deliveryQueue(runtime, 'quick').sendAll(messages, delaySeconds),
  });
};
export const handler = create(lambda);
