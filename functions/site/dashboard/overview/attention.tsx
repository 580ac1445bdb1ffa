import type { ComponentChildren } from 'preact';
import { Badge, ButtonLink } from '../components/basics.tsx';
import { type DeliveryStatus, outcomeText } from '../components/deliveries.tsx';
import { Countdown, Elapsed } from '../components/time.tsx';
import { nameOf } from '../keys/keys.tsx';
import { REASONS, type UndeliverableEmail } from '../settings/undeliverable.tsx';
import type { Key, Webhook } from '../state/api.ts';
import { useLoaded } from '../state/hooks.ts';
import { linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
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
  const disabled = webhooks.filter(({ disabled_reason }) => disabled_reason === 'deliveries_failed');
  const failing = webhooks.filter(({ status, failing_since }) => status === 'enabled' && failing_since !== null);
  const unstable = webhooks.flatMap((webhook) => {
    const summary = summaries.get(webhook.id);
    const isWorking = webhook.status === 'enabled' && webhook.failing_since === null;
    return isWorking && summary && isUnstable(summary) ? [{ webhook, summary }] : [];
  });
  const expiring = keys.filter(({ status }) => status === 'expiring');
  const rows = [
    ...disabled.map((webhook) => <DisabledWebhook key={webhook.id} of={webhook} />),
    ...failing.map((webhook) => <FailingWebhook key={webhook.id} of={webhook} />),
    ...unstable.map((each) => <UnstableWebhook key={each.webhook.id} {...each} />),
    ...undeliverable.map((each) => <Unreachable key={each.email} of={each} />),
    ...expiring.map((key) => <ExpiringKey key={key.id} of={key} />),
  ];
  if (rows.length === 0) return <p class="muted">Nothing needs attention.</p>;
  return (
    <>
      <ul class="attention">{rows.slice(0, MAX_ROWS)}</ul>
      {rows.length > MAX_ROWS && (
        <p>
          <a href={linkTo(environment, ['webhooks'])}>{rows.length - MAX_ROWS} more</a>
        </p>
      )}
    </>
  );
}

function DisabledWebhook({ of: webhook }: { of: Webhook }) {
  const { environment } = useSession();
  const { id, disabled_at } = webhook;
  return (
    <Row
      badge={<Badge tone="bad">disabled</Badge>}
      name={webhookName(webhook)}
      href={linkTo(environment, ['webhooks', id])}
      cause={<Cause of={webhook} status="failed" />}
      time={
        disabled_at && (
          <>
            <Elapsed since={disabled_at} /> ago
          </>
        )
      }
      action={['Enable and recover', linkTo(environment, ['webhooks', id], { recover: '1' })]}
    />
  );
}

function FailingWebhook({ of: webhook }: { of: Webhook }) {
  const { environment } = useSession();
  const { id, failing_since } = webhook;
  const href = linkTo(environment, ['webhooks', id], { status: 'retrying' });
  return (
    <Row
      badge={
        <Badge tone="waiting" icon="warning">
          failing
        </Badge>
      }
      name={webhookName(webhook)}
      href={href}
      cause={<Cause of={webhook} status="retrying" />}
      time={
        failing_since && (
          <>
            for <Elapsed since={failing_since} />
          </>
        )
      }
      action={['View deliveries', href]}
    />
  );
}

function UnstableWebhook({ webhook, summary }: { webhook: Webhook; summary: Summary }) {
  const { environment } = useSession();
  const href = linkTo(environment, ['webhooks', webhook.id]);
  return (
    <Row
      badge={
        <Badge tone="waiting" icon="warning">
          unstable
        </Badge>
      }
      name={webhookName(webhook)}
      href={href}
      cause={`${successRate(summary)} of attempts succeeded · ${new URL(webhook.url).host}`}
      time="in the last 24 h"
      action={['View webhook', href]}
    />
  );
}

function Unreachable({ of: { email, reason, at } }: { of: UndeliverableEmail }) {
  const { environment } = useSession();
  const href = linkTo(environment, ['settings']);
  return (
    <Row
      badge={<Badge tone="bad">undeliverable</Badge>}
      name={email}
      href={href}
      cause={REASONS[reason]}
      time={
        <>
          <Elapsed since={at} /> ago
        </>
      }
      action={['Open settings', href]}
    />
  );
}

function ExpiringKey({ of: key }: { of: Key }) {
  const { environment } = useSession();
  const href = linkTo(environment, ['keys', key.id]);
  return (
    <Row
      badge={<Badge tone="waiting">expiring</Badge>}
      name={nameOf(key)}
      href={href}
      cause="API key"
      time={
        key.expires_at && (
          <>
            in <Countdown to={key.expires_at} over="a moment" />
          </>
        )
      }
      action={['View key', href]}
    />
  );
}

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
  action: readonly [name: string, href: string];
}

const Row = ({ badge, name, href, cause, time, action: [actionName, actionHref] }: RowProps) => (
  <li>
    {badge}
    <div class="what">
      <a href={href}>{name}</a>
      <small>{cause}</small>
    </div>
    <span class="muted">{time}</span>
    <ButtonLink href={actionHref}>{actionName}</ButtonLink>
  </li>
);
