import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { createProject } from '../lib/projects/create-project.ts';
import { stores } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return createProject({ ...backend, ...stores(backend) });
};
export const handler = create(lambda);
