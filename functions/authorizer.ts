import { environment, newVariable } from '../lib/aws/environment.ts';
import { aws } from './platform.ts';
import { authorization } from './wiring.ts';

export const handler = authorization({
  ...aws(),
  sharePrefix: environment('SHARE_PREFIX'),
  requestsPerSecond: newVariable('PROJECT_REQUESTS_PER_SECOND'),
});
