import type { Backend } from '../aws/backend.ts';
import { baseUrlOf, dashboardOf } from '../http/base-url.ts';
import { environmentFor } from '../http/caller.ts';
import { Problem } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { iso } from '../schema.ts';
import { DEFAULT_LIFETIME_SECONDS, lifetimeOf } from './dashboard-link.ts';
import { signSession } from './dashboard-session.ts';
import { dashboardLink } from './link-fragment.ts';
import type { linkOperations } from './link-operations.ts';
import { apiKeys } from './store.ts';

export function linkHandlers(backend: Backend): Handlers<typeof linkOperations> {
  const { table, clock, random } = backend;
  const keys = apiKeys(table);
  const dashboardUrl = dashboardOf(baseUrlOf(backend));

  return {
    async createDashboardLink({ body, caller, space }) {
      const { role, user, expires_in = DEFAULT_LIFETIME_SECONDS } = body;
      const environment = environmentFor(caller, body.environment ?? space.environment);
      if (environment instanceof Problem) return environment;
      const parent = await keys.get(caller.keyId);
      if (!parent) throw new Error('The key of this request is gone');
      const now = clock();
      const { seconds, endsAt } = lifetimeOf(expires_in, now, parent.expiresAt);
      const sessionId = Buffer.from(random(16)).toString('base64url');
      const session = await signSession({ sessionId, environment, role, user }, parent, seconds, now);
      return { body: { url: dashboardLink(dashboardUrl, session), expires_at: iso(endsAt) } };
    },
  };
}
