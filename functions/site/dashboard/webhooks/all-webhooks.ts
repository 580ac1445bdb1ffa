import { all, type Webhook } from '../state/api.ts';
import { useLoaded } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';

/** The webhooks of the environment by id, without deleted ones. Empty until they are loaded. */
export function useWebhooks(): ReadonlyMap<string, Webhook> {
  const { call, environment } = useSession();
  const { value = [] } = useLoaded(environment, () => all(call, 'GET /v1/webhooks'));
  return new Map(value.map((webhook) => [webhook.id, webhook]));
}
