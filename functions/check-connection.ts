import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { checkConsumer } from '../lib/documents/consumers.ts';

export const create = (runtime: Runtime) => checkConsumer(connect(runtime));
export const handler = create(lambda);
