import { environment } from '../lib/aws/environment.ts';
import { aws } from './platform.ts';
import { authorization } from './wiring.ts';

export const handler = authorization({
  ...aws(),
  sharePrefix: environment('SHARE_PREFIX'),
  requestsPerSecond: Number(environment('PROJECT_REQUESTS_PER_SECOND')),
});
