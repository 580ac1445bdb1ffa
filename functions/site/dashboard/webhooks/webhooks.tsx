import { ButtonLink, Form, PageTitle } from '../components/basics.tsx';
import { Await, Empty, ProblemNote } from '../components/feedback.tsx';
import { Input, Select } from '../components/field.tsx';
import { all, type Webhook } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { linkTo, replaceBy } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { missedBy } from './backlog.tsx';
import { isPaused, isUnstable, PERIODS, readSummaries, type Summary, successShare } from './stats.ts';
import { type Stats, WebhookTable } from './webhook-table.tsx';

const REFRESH_MS = 30_000;

type Order = (a: Webhook, b: Webhook, stats: Stats) => number;

/** Sorts webhooks that need attention first, with 0. */
const urgencyOf = (webhook: Webhook, summary: Summary | undefined): number => {
  if (webhook.status === 'disabled') return isPaused(webhook) ? 4 : 0;
  if (webhook.failing_since !== null) return 1;
  return missedBy(webhook) > 0 || isUnstable(webhook, summary) ? 2 : 3;
};
const byUrl: Order = (a, b) => a.url.localeCompare(b.url, undefined, { numeric: true });
const bySummary =
  (rankOf: (summary: Summary | undefined) => number): Order =>
  (a, b, stats) =>
    rankOf(stats.get(b.id)) - rankOf(stats.get(a.id)) || byUrl(a, b, stats);

const ORDERS: Record<string, Order> = {
  'Attention first': (a, b, stats) =>
    urgencyOf(a, stats.get(a.id)) - urgencyOf(b, stats.get(b.id)) || byUrl(a, b, stats),
  'Endpoint URL': byUrl,
  'Most delivered': bySummary((summary) => summary?.counts.delivered ?? 0),
  'Worst success rate': bySummary((summary) => 1 - (summary ? (successShare(summary) ?? 1) : 1)),
  'Highest p95': bySummary((summary) => summary?.p95 ?? 0),
};
const ORDER_NAMES = Object.keys(ORDERS);

/** Filters webhooks by URL, description, id and event types. */
const matching = (webhooks: readonly Webhook[], text: string): Webhook[] => {
  const term = text.trim().toLowerCase();
  return webhooks.filter(({ id, url, description, events }) =>
    [id, url, description ?? '', ...events].some((each) => each.toLowerCase().includes(term)),
  );
};

/** The webhooks of the environment. The search and the order are part of the URL. */
export function Webhooks({ query }: { query: URLSearchParams }) {
  const { call, environment, can } = useSession();
  const text = query.get('search') ?? '';
  const order = query.get('sort') ?? ORDER_NAMES[0] ?? '';
  const show = (change: Record<string, string>) =>
    replaceBy(linkTo(environment, ['webhooks'], { ...Object.fromEntries(query), ...change }));
  const loaded = useLoaded(environment, () => all(call, 'GET /v1/webhooks'));
  const stats = useLoaded(environment, () => readSummaries(call, PERIODS['24 hours'])); // loads more slowly
  useRepeated(REFRESH_MS, loaded, stats);
  const create = can('POST /v1/webhooks') && (
    <ButtonLink to={['webhooks', 'new']} kind="primary">
      Create Webhook
    </ButtonLink>
  );
  return (
    <>
      <PageTitle actions={create}>Webhooks</PageTitle>
      <Await of={loaded}>
        {(webhooks) => {
          const shown = matching(webhooks, text).sort((a, b) => ORDERS[order]?.(a, b, stats.value ?? new Map()) ?? 0);
          return (
            <>
              {webhooks.length === 0 ? (
                <Empty action={create}>
                  No webhooks yet. A webhook sends signed events to your server as they occur, and retries deliveries
                  that fail.
                </Empty>
              ) : (
                <Form class="filters" role="search" onSubmit={() => {}}>
                  <Input
                    label="Search"
                    value={text}
                    placeholder="URL, description, type or id"
                    onInput={(search) => show({ search })}
                  />
                  <Select
                    label="Sort by"
                    value={order}
                    options={ORDER_NAMES.map((name) => [name, name] as const)}
                    onChange={(sort) => show({ sort })}
                  />
                  <p class="count" aria-live="polite">
                    {shown.length === webhooks.length ? webhooks.length : `${shown.length} of ${webhooks.length}`}{' '}
                    {webhooks.length === 1 ? 'webhook' : 'webhooks'}
                  </p>
                </Form>
              )}
              {webhooks.length > 0 && shown.length === 0 && <Empty>No webhook matches “{text}”.</Empty>}
              <div aria-busy={stats.loading}>
                {shown.length > 0 && <ProblemNote problem={stats.problem} />}
                <WebhookTable webhooks={shown} stats={stats.value} onChange={loaded.reload} />
              </div>
            </>
          );
        }}
      </Await>
    </>
  );
}
