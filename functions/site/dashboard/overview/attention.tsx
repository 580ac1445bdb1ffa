import type { ComponentChildren } from 'preact';
import { Badge, ButtonLink } from '../components/basics.tsx';
import { type DeliveryStatus, outcomeText } from '../components/deliveries.tsx';
import { Countdown, Elapsed } from '../components/time.tsx';
import { expiresSoon, nameOf } from '../keys/keys.tsx';
import { REASONS, type UndeliverableEmail } from '../settings/undeliverable.tsx';
import type { Key, Webhook } from '../state/api.ts';
import { useLoaded } from '../state/hooks.ts';
import { linkTo } from '../state/router.ts';
import { shownOf, useSession } from '../state/session.ts';
import { isUnstable, type Summary, successRate } from '../webhooks/stats.ts';
import { webhookName } from '../webhooks/webhook-text.ts';

/** Rows that are shown. Each webhook costs a request for its cause. */
const MAX_ROWS = 8;

interface AttentionProps {
  webhooks: Webhook[];
  /** The stats of the last 24 hours by webhook id. */
  summaries: ReadonlyMap<string, Summary>;
  keys: Key[];
  undeliverable: UndeliverableEmail[];
}

/** Webhooks, email addresses and keys with a problem: the cause, the time and the action of each. */
export function Attention({ webhooks, summaries, keys, undeliverable }: AttentionProps) {
  const { environment } = useSession();
  const webhookAt = (id: string, query = {}) => linkTo(environment, ['webhooks', id], query);
  const settings = linkTo(environment, ['settings']);
  const disabled = webhooks.filter(({ disabled_reason }) => disabled_reason === 'deliveries_failed');
  const failing = webhooks.filter(({ status, failing_since }) => status === 'enabled' && failing_since !== null);
  const unstable = webhooks.flatMap((webhook) => {
    const summary = summaries.get(webhook.id);
    const isWorking = webhook.status === 'enabled' && webhook.failing_since === null;
    return isWorking && summary && isUnstable(summary) ? [{ webhook, summary }] : [];
  });
  const rows: RowProps[] = [
    ...disabled.map((webhook) => ({
      badge: <Badge tone="bad">disabled</Badge>,
      name: webhookName(webhook),
      href: webhookAt(webhook.id),
      cause: <Cause of={webhook} status="failed" />,
      time: webhook.disabled_at && ago(webhook.disabled_at),
      action: 'Enable and recover',
      actionHref: webhookAt(webhook.id, { recover: '1' }),
    })),
    ...failing.map((webhook) => ({
      badge: warning('failing'),
      name: webhookName(webhook),
      href: webhookAt(webhook.id, { status: 'retrying' }),
      cause: <Cause of={webhook} status="retrying" />,
      time: webhook.failing_since && (
        <>
          for <Elapsed since={webhook.failing_since} />
        </>
      ),
      action: 'View deliveries',
    })),
    ...unstable.map(({ webhook, summary }) => ({
      badge: warning('unstable'),
      name: webhookName(webhook),
      href: webhookAt(webhook.id),
      cause: `${successRate(summary)} of attempts succeeded · ${new URL(webhook.url).host}`,
      time: 'in the last 24 h',
      action: 'View webhook',
    })),
    ...undeliverable.map(({ email, reason, at }) => ({
      badge: <Badge tone="bad">undeliverable</Badge>,
      name: email,
      href: settings,
      cause: REASONS[reason],
      time: ago(at),
      action: 'Open settings',
    })),
    ...keys.filter(expiresSoon).map((key) => ({
      badge: <Badge tone="waiting">expiring</Badge>,
      name: nameOf(key),
      href: linkTo(environment, ['keys', key.id]),
      cause: `${shownOf(key)}${key.replaced_by ? ' · replaced by a new key' : ''}`,
      time: key.expires_at && (
        <>
          in <Countdown to={key.expires_at} over="a moment" />
        </>
      ),
      action: 'View key',
    })),
  ];
  if (rows.length === 0) return <p class="muted">Nothing needs attention.</p>;
  return (
    <>
      <ul class="attention">
        {rows.slice(0, MAX_ROWS).map((row) => (
          <Row key={`${row.href} ${row.name}`} {...row} />
        ))}
      </ul>
      {rows.length > MAX_ROWS && (
        <p>
          <a href={linkTo(environment, ['webhooks'])}>{rows.length - MAX_ROWS} more</a>
        </p>
      )}
    </>
  );
}

const warning = (state: string) => (
  <Badge tone="waiting" icon="warning">
    {state}
  </Badge>
);

const ago = (at: string) => (
  <>
    <Elapsed since={at} /> ago
  </>
);

/** The host and the outcome of the last attempt of the latest delivery with this status. */
function Cause({ of: { id, url }, status }: { of: Webhook; status: DeliveryStatus }) {
  const { call } = useSession();
  const { value } = useLoaded(`${id} ${status}`, () =>
    call('GET /v1/webhooks/{id}/deliveries', { path: { id }, query: { status, limit: '1' } }),
  );
  const attempt = value?.data[0]?.attempts.at(-1);
  return (
    <>
      {attempt && `${outcomeText(attempt)} · `}
      {new URL(url).host}
    </>
  );
}

interface RowProps {
  badge: ComponentChildren;
  name: string;
  href: string;
  cause: ComponentChildren;
  time: ComponentChildren;
  action: string;
  /** Where the action leads, if not to `href`. */
  actionHref?: string;
}

const Row = ({ badge, name, href, cause, time, action, actionHref = href }: RowProps) => (
  <li>
    {badge}
    <div class="what">
      <a href={href}>{name}</a>
      <small>{cause}</small>
    </div>
    <span class="muted">{time}</span>
    <ButtonLink href={actionHref}>{action}</ButtonLink>
  </li>
);
