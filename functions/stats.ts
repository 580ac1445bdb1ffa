import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { countConsumer } from '../lib/deliveries/stream-consumers.ts';

export const create = (runtime: Runtime) => countConsumer(connect(runtime));
export const handler = create(lambda);
