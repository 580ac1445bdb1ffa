import { useState } from 'preact/hooks';
import { Button, ButtonLink, Facts, Link, PageTitle, Panel } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Json } from '../components/json.tsx';
import { KeyHint } from '../components/key-hint.tsx';
import { Time } from '../components/time.tsx';
import { findEvents } from '../events/event-places.ts';
import { EventTable, isSettling, REFRESH_MS } from '../events/event-table.tsx';
import { useRepeated } from '../state/hooks.ts';
import { useRead, useSession } from '../state/session.ts';
import { DeleteDocument } from './delete-document.tsx';
import { EditDocument } from './document-editor.tsx';

export function DocumentPage({ documentKey }: { documentKey: string }) {
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const [version, setVersion] = useState(0);
  const { can } = useSession();
  const loaded = useRead('GET /v1/documents/{key}', { path: { key: documentKey } }, version);
  const parent = documentKey.split(':').slice(0, -1).join(':');
  const close = () => {
    setDialog(undefined);
    setVersion((last) => last + 1);
  };
  return (
    <>
      <p class="up">
        <Link to={['documents']}>Documents</Link>
        {parent && (
          <>
            {' · '}
            <Link to={['documents']} query={{ prefix: parent }}>
              {parent}
            </Link>
          </>
        )}
      </p>
      <PageTitle
        actions={
          loaded.value &&
          dialog !== 'edit' && (
            <>
              {can('PUT /v1/documents/{key}') && <Button onClick={() => setDialog('edit')}>Edit</Button>}
              {can('DELETE /v1/documents/{key}') && (
                <Button kind="danger" onClick={() => setDialog('delete')}>
                  Delete
                </Button>
              )}
            </>
          )
        }
      >
        {documentKey}
      </PageTitle>
      <Await of={loaded}>
        {(document) => (
          <>
            <Panel>
              <Facts>
                {[
                  ['Revision', String(document.revision)],
                  ['Created', <Time key="created" at={document.created_at} />],
                  ['Updated', <Time key="updated" at={document.updated_at} />],
                ]}
              </Facts>
            </Panel>
            {dialog === 'edit' ? (
              <EditDocument of={document} onSaved={close} onClose={close} />
            ) : (
              <Panel title="Fields">
                <Json value={document.fields} label="Fields" />
              </Panel>
            )}
            {dialog === 'delete' && <DeleteDocument of={document} onClose={close} />}
          </>
        )}
      </Await>
      <LatestEvents of={documentKey} version={version} isMissing={loaded.problem?.status === 404} />
    </>
  );
}

/** Also shows events of a deleted document. */
function LatestEvents({ of: documentKey, version, isMissing }: { of: string; version: number; isMissing: boolean }) {
  const { call, environment } = useSession();
  const query = { document_key: documentKey, include: 'outcome', limit: '5' } as const;
  const loaded = useRead('GET /v1/events', { query }, version);
  useRepeated(isSettling(loaded.value?.data) ? REFRESH_MS : null, loaded);
  return (
    <Panel
      title="Latest events"
      actions={
        loaded.value?.data.length !== 0 && (
          <ButtonLink to={['events']} query={{ document_key: documentKey }}>
            View all events
          </ButtonLink>
        )
      }
    >
      <Await of={loaded}>
        {({ data, next_cursor }) =>
          data.length > 0 ? (
            <EventTable rows={data} isOfOne />
          ) : (
            <Empty
              action={isMissing && !next_cursor && <KeyHint of={documentKey} find={findEvents(call, environment)} />}
            >
              {next_cursor
                ? 'Nothing among the latest events. There are older ones.'
                : 'No events of the last 30 days.'}
            </Empty>
          )
        }
      </Await>
    </Panel>
  );
}
