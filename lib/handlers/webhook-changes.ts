import { notFound, type Problem } from '../api/problems.ts';
import type { Request } from '../http/request.ts';
import { optimistically } from '../optimistic.ts';
import type { Space } from '../space.ts';
import type { TransactionPart } from '../transaction.ts';
import { normalizeUrl } from '../webhooks/endpoint-url.ts';
import type { WebhookChange, WebhookRecord } from '../webhooks/webhooks.ts';
import type { Audited } from './audit.ts';

export interface ReadableWebhooks {
  get(space: Space, id: string): Promise<WebhookRecord | undefined>;
  /** In the order of creation. */
  list(space: Space, limit: number, after?: string): Promise<{ webhooks: WebhookRecord[]; next: string | undefined }>;
}

export interface ChangeableWebhooks extends ReadableWebhooks {
  /**
   * Sets the defined members and removes the undefined ones. Returns the webhook as it is then; `undefined` if it is gone,
   * or its status is no longer what was read.
   */
  change(
    read: WebhookRecord,
    change: Partial<WebhookRecord>,
    also: readonly TransactionPart[],
  ): Promise<WebhookRecord | undefined>;
}

/** Changes a webhook as somebody asked, whatever others change at the same time. */
export async function applyChange(
  request: Pick<Request, 'caller' | 'address' | 'space'>,
  id: string,
  asked: WebhookChange,
  { webhooks, clock, audited }: { webhooks: ChangeableWebhooks; clock(): number; audited: Audited },
): Promise<WebhookRecord | Problem> {
  const { space } = request;
  return optimistically(async () => {
    const webhook = await webhooks.get(space, id);
    if (!webhook) return notFound('webhook');
    const now = clock();
    const detail = detailOf(space, asked);
    const entry = audited(request, { at: now, action: 'webhook.changed', target: id, detail });
    return webhooks.change(webhook, changeOf(webhook, asked, now), [entry]);
  });
}

// Without the values, but for the status: a URL or a header may hold a secret of the endpoint.
const detailOf = ({ environment }: Space, asked: WebhookChange) => ({
  environment,
  changed: Object.keys(asked),
  ...(asked.status !== undefined && { status: asked.status }),
});

// Only what is asked for changes; a status that it has already changes nothing. A new endpoint, or one that comes back, has
// yet to show how quick it is. What went wrong stays known until a delivery succeeds.
function changeOf(webhook: WebhookRecord, asked: WebhookChange, now: number): Partial<WebhookRecord> {
  const { status, url, ...rest } = asked;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const unproven = { quickSince: undefined, slowUntil: undefined };
  const moved = url !== undefined && { url: normalizeUrl(url), ...(url !== webhook.url && unproven) };
  const isResubscribed = rest.events !== undefined || rest.documents !== undefined;
  const subscribed = isResubscribed && { subscribedAt: now };
  const change: Partial<WebhookRecord> = { ...given, ...moved, ...subscribed, updatedAt: now };
  if (status === undefined || status === webhook.status) return change;
  if (status === 'disabled') {
    const undeliveredSince = webhook.undeliveredSince ?? now;
    return { ...change, status, undeliveredSince, disabledAt: now, disabledReason: 'paused' };
  }
  return {
    ...change,
    ...unproven,
    status,
    disabledReason: undefined,
    disabledBy: undefined,
    emailedAt: undefined,
    emailingUntil: undefined,
  };
}
