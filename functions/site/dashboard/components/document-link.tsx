import { isDocumentKey } from '../../../../lib/documents/patterns.ts';
import { visible } from '../../../../lib/printable.ts';
import { Link } from './basics.tsx';

/**
 * Links to the events of the document of an event, if it has one. The documents of published events are stored elsewhere. In a type
 * without a document, `document_key` can be any value.
 */
export function DocumentLink({ to: key }: { to: unknown }) {
  if (typeof key !== 'string') return <>–</>;
  const text = visible(key);
  if (!isDocumentKey(key)) return <>{text}</>;
  return (
    <Link to={['events']} query={{ document_key: key }} title={`Events of ${text}`}>
      {text}
    </Link>
  );
}
