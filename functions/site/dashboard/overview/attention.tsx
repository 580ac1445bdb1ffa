import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Badge, Button, ButtonLink, Link, Warning } from '../components/basics.tsx';
import { outcomeText } from '../components/deliveries.tsx';
import { Elapsed, In } from '../components/time.tsx';
import { expiresSoon, nameOf } from '../keys/keys.tsx';
import { isSilent, unconfirmedIn } from '../settings/unconfirmed.tsx';
import { REASONS } from '../settings/undeliverable.tsx';
import type { Key, ResponseOf, Webhook } from '../state/api.ts';
import { shownOf, useRead, useSession } from '../state/session.ts';
import { missedBy } from '../webhooks/backlog.tsx';
import { isUnstable, type Summary, successRate } from '../webhooks/stats.ts';
import { AFTER_FAILURE } from '../webhooks/trouble.tsx';
import { webhookName } from '../webhooks/webhook-text.ts';

/** Rows that are shown at first. Each webhook costs a request for its cause. */
const FIRST_ROWS = 8;
/** Further rows that are shown at a time. */
const MORE_ROWS = 25;

interface AttentionProps {
  webhooks: Webhook[];
  /** The stats of the last 24 hours by webhook id, or `undefined` until they are loaded. */
  summaries: ReadonlyMap<string, Summary> | undefined;
  keys: Key[];
  /** `null` if the user cannot read it, and `undefined` until it is loaded. */
  project: ResponseOf<'GET /v1/project'> | null | undefined;
}

/** Webhooks, email addresses and keys with a problem: the cause, the time and the action of each. */
export function Attention({ webhooks, summaries, keys, project }: AttentionProps) {
  const [limit, setLimit] = useState(FIRST_ROWS);
  const list = useRef<HTMLUListElement>(null);
  const canRecover = useSession().can('POST /v1/webhooks/{id}/recover');
  useLayoutEffect(() => {
    if (limit > FIRST_ROWS) list.current?.children[limit - MORE_ROWS]?.querySelector('a')?.focus();
  }, [limit]);
  const disabled = webhooks.filter(({ disabled_reason }) => disabled_reason === 'deliveries_failed');
  const failing = webhooks.filter(({ status, failing_since }) => status === 'enabled' && failing_since !== null);
  const working = webhooks.filter((webhook) => webhook.status === 'enabled' && webhook.failing_since === null);
  const missing = working.filter((webhook) => missedBy(webhook) > 0);
  const unstable = working.flatMap((webhook) => {
    const summary = missing.includes(webhook) ? undefined : summaries?.get(webhook.id);
    return summary && isUnstable(webhook, summary) ? [{ webhook, summary }] : [];
  });
  const rows: RowProps[] = [
    ...disabled.map((webhook) => ({
      badge: <Badge tone="bad">disabled</Badge>,
      name: webhookName(webhook),
      to: ['webhooks', webhook.id],
      cause: <Cause of={webhook} />,
      time: webhook.disabled_at && ago(webhook.disabled_at),
      ...(canRecover ? { action: 'Enable and recover', actionQuery: { recover: '1' } } : { action: 'View webhook' }),
    })),
    ...failing.map((webhook) => ({
      badge: <Warning>failing</Warning>,
      name: webhookName(webhook),
      to: ['webhooks', webhook.id],
      query: { status: 'retrying' },
      cause: <Cause of={webhook} />,
      time: webhook.failing_since && (
        <>
          for <Elapsed since={webhook.failing_since} />
        </>
      ),
      action: 'View deliveries',
    })),
    ...missing.map((webhook) => ({
      badge: <Warning>missed</Warning>,
      name: webhookName(webhook),
      to: ['webhooks', webhook.id],
      query: { status: 'undelivered' },
      cause: `${countText(missedBy(webhook))} not delivered · ${new URL(webhook.url).host}`,
      time: null,
      ...(canRecover ? { action: 'Recover', actionQuery: { recover: '1' } } : { action: 'View deliveries' }),
    })),
    ...unstable.map(({ webhook, summary }) => ({
      badge: <Warning>unstable</Warning>,
      name: webhookName(webhook),
      to: ['webhooks', webhook.id],
      cause: `${successRate(summary)} of attempts succeeded · ${new URL(webhook.url).host}`,
      time: 'in the last 24 h',
      action: 'View webhook',
    })),
    ...(project?.undeliverable_emails ?? []).map(({ email, reason, at }) => ({
      badge: <Badge tone="bad">undeliverable</Badge>,
      name: email,
      to: ['settings'],
      cause: REASONS[reason],
      time: ago(at),
      action: 'Open settings',
    })),
    ...(project ? unconfirmedIn(project) : []).map(({ email, requested_at }) => ({
      badge: <Warning>unconfirmed</Warning>,
      name: email,
      to: ['settings'],
      cause: project && isSilent(project) ? 'no address receives notifications' : 'its owner has not confirmed it',
      time: requested_at && ago(requested_at),
      action: 'Open settings',
    })),
    ...keys.filter(expiresSoon).map((key) => ({
      badge: <Badge tone="waiting">expiring</Badge>,
      name: nameOf(key),
      to: ['keys', key.id],
      cause: `${shownOf(key)}${key.replaced_by ? ' · replaced by a new key' : ''}`,
      time: key.expires_at && <In to={key.expires_at} />,
      action: 'View key',
    })),
  ];
  if (rows.length === 0) return summaries && project !== undefined && <p class="muted">Nothing needs attention.</p>;
  const more = Math.min(MORE_ROWS, rows.length - limit);
  return (
    <>
      <ul class="attention" ref={list}>
        {rows.slice(0, limit).map((row) => (
          <Row key={`${row.to} ${row.name}`} {...row} />
        ))}
      </ul>
      {more > 0 && <Button onClick={() => setLimit(limit + MORE_ROWS)}>Show {more} more</Button>}
    </>
  );
}

const countText = (count: number): string => (count === 1 ? '1 delivery' : `${count.toLocaleString()} deliveries`);

const ago = (at: string) => (
  <>
    <Elapsed since={at} /> ago
  </>
);

/** The host and the outcome of the last failed attempt of the latest event. */
function Cause({ of: webhook }: { of: Webhook }) {
  const { id, url } = webhook;
  const missed = missedBy(webhook);
  const query = { status: [...AFTER_FAILURE], limit: '10' };
  const { value } = useRead('GET /v1/webhooks/{id}/deliveries', { path: { id }, query });
  const attempt = value?.data.find(({ attempts }) => attempts.length > 0)?.attempts.at(-1);
  return (
    <>
      {attempt && `${outcomeText(attempt)} · `}
      {missed > 0 && `${countText(missed)} not delivered · `}
      {new URL(url).host}
    </>
  );
}

interface RowProps {
  badge: ComponentChildren;
  name: string;
  to: readonly string[];
  query?: Record<string, string>;
  cause: ComponentChildren;
  time: ComponentChildren;
  action: string;
  /** Query parameters that the link of the action has instead of `query`. */
  actionQuery?: Record<string, string>;
}

const Row = ({ badge, name, to, query, cause, time, action, actionQuery }: RowProps) => (
  <li>
    {badge}
    <div class="what">
      <Link to={to} query={query}>
        {name}
      </Link>
      <small>{cause}</small>
    </div>
    <span class="muted">{time}</span>
    <ButtonLink to={to} query={actionQuery ?? query}>
      {action}
    </ButtonLink>
  </li>
);
