import { connect } from '../lib/aws/backend.ts';
import { lambda, newVariable, type Runtime, variable } from '../lib/aws/runtime.ts';
import { authorizer } from '../lib/http/authorizer.ts';
import { credentials } from '../lib/keys/credential-store.ts';
import { shareKeyOf } from '../lib/projects/shares.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  const sharePrefix = variable(runtime, 'SHARE_PREFIX');
  return authorizer({
    ...backend,
    keys: credentials(backend.table),
    shareKeyOf: (projectId) => shareKeyOf(sharePrefix, projectId),
    requestsPerSecond: newVariable(runtime, 'PROJECT_REQUESTS_PER_SECOND'),
  });
};
export const handler = create(lambda);
