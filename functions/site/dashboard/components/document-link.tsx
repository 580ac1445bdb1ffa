import { visible } from '../../../../lib/printable.ts';
import { Link } from './basics.tsx';

/**
 * Links to the events of the document of an event, if it has one. An event can have any text as its document key, and the documents of
 * published events are stored elsewhere.
 */
export function DocumentLink({ to: key }: { to: unknown }) {
  if (typeof key !== 'string') return <>–</>;
  const text = visible(key);
  return (
    <Link to={['events']} query={{ document_key: key }} title={`Events of ${text}`}>
      {text}
    </Link>
  );
}
