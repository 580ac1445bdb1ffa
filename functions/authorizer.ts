import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { authorizer } from '../lib/http/authorizer-handlers.ts';

export const create = (runtime: Runtime) => authorizer(connect(runtime));
export const handler = create(lambda);
