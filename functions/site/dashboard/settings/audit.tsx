import { printable } from '../../../../lib/printable.ts';
import { ButtonLink, Link, Panel } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { type Column, Pager, Table } from '../components/table.tsx';
import { ShortTime, timeText } from '../components/time.tsx';
import { nameOf, useKeys } from '../keys/keys.tsx';
import type { EntryOf } from '../state/api.ts';
import { linkTo, parametersOf } from '../state/router.ts';
import { useRead, useSession } from '../state/session.ts';
import { useWebhooks } from '../webhooks/all-webhooks.ts';
import { webhookName } from '../webhooks/webhook-text.ts';

type Entry = EntryOf<'GET /v1/audit'>;

const PAGE = 25;
const LATEST = 5;

/** The audit log, newest first. The URL contains the filters and the page. */
export function Audit({ query }: { query: URLSearchParams }) {
  const { environment } = useSession();
  const { cursor, ...filters } = parametersOf(query, 'cursor', 'target', 'actor');
  const { target, actor } = filters;
  const isFiltered = target !== '' || actor !== '';
  const loaded = useRead('GET /v1/audit', { query: { ...filters, limit: String(PAGE), cursor } });
  const at = (change: Record<string, string>) => linkTo(environment, ['settings'], { ...filters, ...change });
  return (
    <Panel title={['Audit log', target && `of ${target}`, actor && `by ${actor}`].filter(Boolean).join(' ')}>
      <Await of={loaded}>
        {({ data, next_cursor }) => (
          <>
            <Entries of={data} next={next_cursor} />
            <Pager cursor={cursor} next={next_cursor} at={at}>
              {isFiltered && <ButtonLink to={['settings']}>All changes</ButtonLink>}
            </Pager>
          </>
        )}
      </Await>
    </Panel>
  );
}

/** Lists the last changes of a resource, such as a key. */
export function LatestChanges({ of: target, version }: { of: string; version: number }) {
  const loaded = useRead('GET /v1/audit', { query: { limit: String(LATEST), target } }, version);
  return (
    <Panel
      title="Latest changes"
      actions={
        <ButtonLink to={['settings']} query={{ target }}>
          Audit log
        </ButtonLink>
      }
    >
      <Await of={loaded}>{({ data, next_cursor }) => <Entries of={data} next={next_cursor} isOfOne />}</Await>
    </Panel>
  );
}

interface EntriesProps {
  of: Entry[];
  next: string | null;
  isOfOne?: boolean;
}

function Entries({ of: entries, next, isOfOne = false }: EntriesProps) {
  const names = useNames();
  if (entries.length === 0)
    return <Empty>{next ? 'None of the latest changes match. There are older ones.' : 'No changes.'}</Empty>;
  const linked = (filter: 'target' | 'actor', id: string) => (
    <Link to={['settings']} query={{ [filter]: id }}>
      {names.get(id)}
      <small>
        <code>{id}</code>
      </small>
    </Link>
  );
  const changed: Column<Entry> = ['Changed', ({ target }) => linked('target', target), 'named'];
  const columns: Column<Entry>[] = [
    ['Action', ({ action }) => action, 'short'],
    ['Details', ({ detail }) => detailText(detail) || '–', 'details'],
    ...(isOfOne ? [] : [changed]),
    [
      'By',
      (entry) =>
        entry.actor ? (
          <>
            {linked('actor', entry.actor)} {linkText(entry)}
          </>
        ) : (
          authorOf(entry)
        ),
    ],
    ['From', ({ address }) => address ?? '–'],
    ['When', ({ at }) => <ShortTime at={at} />],
  ];
  return <Table caption="Audit log" columns={columns} rows={entries} keyOf={({ id }) => id} />;
}

/** The person who made a change with a dashboard link of the key. */
function linkText({ link }: Entry): string {
  if (link === null) return '';
  return link.user === null ? 'with a link' : `with a link, ${printable(link.user)}`;
}

/** Who made a change without a key. Reports of leaked keys, which release 0.1.0 received, have an address. */
function authorOf({ action, address }: Entry): string {
  if (action === 'project.email_confirmed') return 'the owner of the email address';
  return action === 'webhook.disabled' || address !== null ? 'the service' : 'the operator';
}

/** The names of the keys, and of the webhooks of this environment, by id. */
function useNames(): ReadonlyMap<string, string> {
  const keys = useKeys();
  const webhooks = useWebhooks();
  return new Map([
    ...(keys.value ?? []).map((key) => [key.id, nameOf(key)] as const),
    ...[...webhooks.values()].map((webhook) => [webhook.id, webhookName(webhook)] as const),
  ]);
}

/** The details of a change in one line, such as `name: CI · expires at: none`. */
const detailText = (detail: Entry['detail']): string =>
  Object.entries(detail)
    .sort(([a], [b]) => (a < b ? -1 : 1)) // DynamoDB does not keep the order
    .map(([member, value]) => {
      const isTime = member.endsWith('_at') && typeof value === 'string';
      return `${member.replaceAll('_', ' ')}: ${isTime ? timeText(value) : valueText(value)}`;
    })
    .join(' · ');

function valueText(value: unknown): string {
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join(', ');
  if (typeof value === 'string') return printable(value);
  return printable(JSON.stringify(value));
}
