import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { stats } from '../lib/deliveries/stats-store.ts';
import { countConsumer } from '../lib/deliveries/stream-consumers.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return countConsumer(stats(backend.table), backend);
};
export const handler = create(lambda);
