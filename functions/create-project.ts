import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { projectCreation } from './project-wiring.ts';

export const create = (runtime: Runtime) => projectCreation(connect(runtime));
export const handler = create(lambda);
