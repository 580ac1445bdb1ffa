import type { Backend } from '../aws/backend.ts';
import type { Log } from '../aws/log.ts';
import { variable } from '../aws/runtime.ts';
import { projectEmails } from '../emails/send.ts';
import { type Endpoints, endpoints } from './endpoint-store.ts';
import type { HttpPost } from './http-post.ts';
import { laneQueues, retries } from './lane-queues.ts';
import type { Lane } from './lanes.ts';
import { deliveryLog } from './log-store.ts';
import { slots } from './rate-limit-store.ts';
import type { Recovering } from './recovery-consumers.ts';
import { recoveries } from './recovery-store.ts';
import type { Delivering, Notes } from './stages.ts';
import { stats } from './stats-store.ts';
import { type Deliveries, deliveries } from './store.ts';

/** The messages of a batch share the stores, the queues and the rate limits. */
export interface Batch extends Delivering, Recovering {
  readonly log: Log;
  readonly deliveries: Deliveries;
}

/** Creates the batches of the lane of a function. `post` sends the requests of attempts. */
export function batches(backend: Backend, post: HttpPost): () => Batch {
  const { table, clock, log } = backend;
  const lane = variable(backend, 'LANE') as Lane;
  const send = laneQueues(backend);
  const ofFunction = {
    ...{ lane, clock, log, post, send },
    retry: retries(backend, lane, send),
    emails: projectEmails(backend),
    backlogOf: stats(table).backlogOf,
    deliveries: deliveries(table),
    deliveryLog: deliveryLog(table),
    recoveries: recoveries(table),
  };
  const store = endpoints(table);
  return () => ({
    ...ofFunction,
    endpoints: { ...store, beginOutage: oncePerWebhook(store.beginOutage) },
    notes: notesOf(store, log),
    takeSlot: slots(backend),
  });
}

/** Makes notes that do not fail. */
function notesOf({ suspect, setPace, endOutage, endOverload }: Endpoints, log: Log): Notes {
  const logged =
    <Webhook extends { id: string }, Values extends unknown[], Result>(
      note: (webhook: Webhook, ...values: Values) => Promise<Result>,
      event: string,
      otherwise: Result,
    ): typeof note =>
    (webhook, ...values) =>
      note(webhook, ...values).catch((error: unknown) => {
        log.warn(event, { webhook_id: webhook.id, error });
        return otherwise;
      });
  return {
    suspect: logged(oncePerWebhook(suspect), 'webhook.pace_not_noted', true),
    setPace: logged(setPace, 'webhook.pace_not_noted', undefined),
    endOutage: logged(oncePerWebhook(endOutage), 'webhook.outage_end_not_noted', undefined),
    endOverload: logged(oncePerWebhook(endOverload), 'webhook.overload_end_not_noted', undefined),
  };
}

/**
 * Of several deliveries of a batch to one endpoint, the first one makes a note. If that fails, the next one does. Overdue attempts
 * to one endpoint occupy the same environment, so all of them stay or leave with the first.
 */
function oncePerWebhook<Webhook extends { id: string }, Times extends number[], Result>(
  note: (webhook: Webhook, ...times: Times) => Promise<Result>,
): typeof note {
  const noted = new Map<string, Promise<Result>>();
  return (webhook, ...times) => {
    const { id } = webhook;
    const noting = noted.get(id) ?? note(webhook, ...times);
    noted.set(id, noting);
    noting.catch(() => noted.delete(id));
    return noting;
  };
}
