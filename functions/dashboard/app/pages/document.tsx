import { ButtonLink, Facts, PageTitle, Panel } from '../components/basics.tsx';
import { Await } from '../components/feedback.tsx';
import { Json } from '../components/json.tsx';
import { Time } from '../components/time.tsx';
import { useLoaded } from '../hooks.ts';
import { linkTo } from '../router.ts';
import { useSession } from '../session.ts';

export function DocumentPage({ documentKey }: { documentKey: string }) {
  const { call, environment } = useSession();
  const loaded = useLoaded(documentKey, () => call('GET /v1/documents/{key}', { path: { key: documentKey } }));
  const parent = documentKey.split(':').slice(0, -1).join(':');
  return (
    <>
      <p class="up">
        <a href={linkTo(environment, ['documents'], { prefix: parent })}>{parent || 'Documents'}</a>
      </p>
      <PageTitle
        actions={<ButtonLink href={linkTo(environment, ['events'], { document_key: documentKey })}>Events</ButtonLink>}
      >
        {documentKey}
      </PageTitle>
      <Await of={loaded}>
        {(document) =>
          document && (
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
              <Panel title="Fields">
                <Json value={document.fields} label="Fields" />
              </Panel>
            </>
          )
        }
      </Await>
    </>
  );
}
