import { useLayoutEffect, useState } from 'preact/hooks';
import { Button, ButtonLink, Form, Link, PageTitle } from '../components/basics.tsx';
import { filterOf } from '../components/document-text.ts';
import { Await, Empty } from '../components/feedback.tsx';
import { Input } from '../components/field.tsx';
import { KeyHint } from '../components/key-hint.tsx';
import type { Find } from '../components/similar-keys.ts';
import { type Column, Pager, Table } from '../components/table.tsx';
import { ShortTime } from '../components/time.tsx';
import { violationOf } from '../components/violations.ts';
import { findEvents } from '../events/event-places.ts';
import type { Document } from '../state/api.ts';
import { goTo, linkTo, parametersOf } from '../state/router.ts';
import { useRead, useSession } from '../state/session.ts';

const PAGE = 25;

/** Documents with a key prefix. The prefix and the page are part of the URL. */
export function Documents({ query }: { query: URLSearchParams }) {
  const { call, environment, can } = useSession();
  const canCreate = can('PUT /v1/documents/{key}');
  const { prefix, cursor } = parametersOf(query, 'prefix', 'cursor');
  const [typed, setTyped] = useState(prefix);
  useLayoutEffect(() => setTyped(prefix), [prefix]); // before the user can type
  const loaded = useRead('GET /v1/documents', { query: { limit: String(PAGE), prefix, cursor } });
  const at = (change: Record<string, string>) => linkTo(environment, ['documents'], change);
  const find: Find = async (key) => {
    const wanted = filterOf(key).prefix || key;
    const documents =
      wanted === prefix ? undefined : await call('GET /v1/documents', { query: { prefix: wanted, limit: '1' } });
    if (documents?.value?.data.length) return { text: key, href: at({ prefix: wanted }) };
    const events = await findEvents(call, environment)(key);
    return events && { ...events, text: `the events of ${key}` };
  };
  return (
    <>
      <PageTitle
        actions={
          canCreate && (
            <ButtonLink to={['documents']} query={{ new: 'yes' }} kind="primary">
              Create document
            </ButtonLink>
          )
        }
      >
        Documents
      </PageTitle>
      <Form class="filters" role="search" onSubmit={() => goTo(at({ prefix: typed.trim().replace(/:$/, '') }))}>
        <Input
          label="Prefix"
          hint="One or more whole segments of a key, such as org:acme."
          value={typed}
          onInput={setTyped}
          error={violationOf(loaded.problem, 'prefix')}
        />
        <Button type="submit">Browse</Button>
      </Form>
      {prefix && <Trail prefix={prefix} />}
      <Await of={loaded}>
        {({ data, next_cursor }) => (
          <>
            {data.length === 0 ? (
              <Empty action={prefix && !next_cursor && <KeyHint key={prefix} of={prefix} find={find} />}>
                {next_cursor
                  ? 'No documents on this page. There are more on the next one.'
                  : prefix
                    ? 'No documents have this prefix.'
                    : `No documents yet.${canCreate ? ' Create one here or with PUT /v1/documents/{key}.' : ''}`}
              </Empty>
            ) : (
              <DocumentTable documents={data} />
            )}
            <Pager
              cursor={cursor}
              next={next_cursor}
              at={(page) => at({ prefix, ...page })}
              names={['First page', 'Next page']}
            />
          </>
        )}
      </Await>
    </>
  );
}

/** Breadcrumbs: one link per segment of the prefix. */
function Trail({ prefix }: { prefix: string }) {
  const segments = prefix.split(':');
  return (
    <nav class="trail" aria-label="Prefix">
      <Link to={['documents']}>All</Link>
      {segments.map((segment, i) => {
        const upTo = segments.slice(0, i + 1).join(':');
        return (
          <span key={upTo}>
            {' : '}
            <Link to={['documents']} query={{ prefix: upTo }}>
              {segment}
            </Link>
          </span>
        );
      })}
    </nav>
  );
}

function DocumentTable({ documents }: { documents: Document[] }) {
  const columns: Column<Document>[] = [
    [
      'Key',
      ({ document_key }) => (
        <Link to={['documents', document_key]} title={document_key}>
          {document_key}
        </Link>
      ),
      'wide',
    ],
    ['Revision', ({ revision }) => revision, 'number'],
    ['Fields', ({ fields }) => Object.keys(fields).length, 'number'],
    ['Updated', ({ updated_at }) => <ShortTime at={updated_at} />, 'number'],
  ];
  return (
    <Table caption="Documents" columns={columns} rows={documents} keyOf={({ document_key }) => document_key} isDense />
  );
}
