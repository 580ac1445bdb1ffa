import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { emailConsumer } from '../lib/projects/consumers.ts';

export const create = (runtime: Runtime) => emailConsumer(connect(runtime));
export const handler = create(lambda);
