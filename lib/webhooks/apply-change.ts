import type { ChangeEntry } from '../audit/audit.ts';
import type { Backend } from '../aws/backend.ts';
import type { Write } from '../aws/writes.ts';
import { optimistically } from '../concurrency.ts';
import { notFound, type Problem } from '../http/problems.ts';
import { changedMembers } from '../json.ts';
import type { Space } from '../space.ts';
import { withoutEmail } from './email-state.ts';
import { normalizeUrl } from './endpoint-url.ts';
import { webhooks } from './store.ts';
import { DEFAULT_SETTINGS, type WebhookChange, type WebhookRecord } from './webhook.ts';

/**
 * Sets the members of a webhook that differ from the stored ones, and repeats this after a concurrent change. A request that
 * changes nothing leaves `updated_at` and the audit log unchanged. `audited` adds the author to the audit entry.
 */
export async function applyChange(
  { table, clock }: Pick<Backend, 'table' | 'clock'>,
  space: Space,
  id: string,
  change: WebhookChange,
  audited: (entry: ChangeEntry) => Write,
): Promise<WebhookRecord | Problem> {
  const store = webhooks(table);
  return optimistically(async () => {
    const webhook = await store.get(space, id);
    if (!webhook) return notFound('webhook');
    const changed = effectOf(webhook, change, clock());
    return changed ? store.change(webhook, changed.members, [audited(changed.entry)]) : webhook;
  });
}

/** The members that a change sets, and its entry in the audit log. `undefined` if it changes nothing. */
export function effectOf(
  webhook: WebhookRecord,
  change: WebhookChange,
  now: number,
): { members: Partial<WebhookRecord>; entry: ChangeEntry } | undefined {
  const changed = differenceOf(webhook, change);
  if (Object.keys(changed).length === 0) return undefined;
  const entry = { at: now, action: 'webhook.changed', target: webhook.id, detail: detailOf(webhook, changed) } as const;
  return { members: changeOf(webhook, changed, now), entry };
}

function differenceOf(webhook: WebhookRecord, change: WebhookChange): WebhookChange {
  const current = { ...DEFAULT_SETTINGS, ...webhook, max_per_second: webhook.maxPerSecond ?? null };
  return changedMembers({ ...change, ...(change.url !== undefined && { url: normalizeUrl(change.url) }) }, current);
}

// Omits the values except for the status, because a URL or a header can contain a secret.
const detailOf = ({ environment }: Space, changed: WebhookChange) => ({
  environment,
  changed: Object.keys(changed),
  ...(changed.status !== undefined && { status: changed.status }),
});

// The pace of a new, moved or re-enabled endpoint is unknown. The outage of a re-enabled webhook continues until a delivery
// succeeds.
function changeOf(webhook: WebhookRecord, changed: WebhookChange, now: number): Partial<WebhookRecord> {
  const { status, max_per_second: maxPerSecond, ...rest } = changed;
  const unproven = { quickSince: undefined, slowUntil: undefined };
  const isResubscribed = rest.events !== undefined || rest.documents !== undefined;
  const subscribed = isResubscribed && { subscribedAt: now };
  const change: Partial<WebhookRecord> = {
    ...rest,
    ...(maxPerSecond !== undefined && { maxPerSecond: maxPerSecond ?? undefined, ...withoutEmail('overloaded') }),
    ...(rest.url !== undefined && unproven),
    ...subscribed,
    updatedAt: now,
  };
  if (status === undefined) return change;
  if (status === 'disabled') {
    const undeliveredSince = webhook.undeliveredSince ?? now;
    return { ...change, status, undeliveredSince, disabledAt: now, disabledReason: 'paused', recoveryId: undefined };
  }
  return { ...change, ...unproven, status, disabledReason: undefined, ...withoutEmail('disabled') };
}
