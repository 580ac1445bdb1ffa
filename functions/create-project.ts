import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { createProject } from '../lib/projects/operator-handlers.ts';

export const create = (runtime: Runtime) => createProject(connect(runtime));
export const handler = create(lambda);
