import { visible } from '../../../../lib/printable.ts';
import { linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';

/**
 * Links to the events of the document of an event, if it has one. An event can have any text as its document key, and the documents of
 * published events are stored elsewhere.
 */
export function DocumentLink({ to: key }: { to: unknown }) {
  const { environment } = useSession();
  if (typeof key !== 'string') return <>–</>;
  const text = visible(key);
  return (
    <a href={linkTo(environment, ['events'], { document_key: key })} title={`Events of ${text}`}>
      {text}
    </a>
  );
}
