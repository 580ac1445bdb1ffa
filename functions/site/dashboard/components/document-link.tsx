import { visible } from '../../../../lib/printable.ts';
import { linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';

/** Links to the document of an event, if it has one. An event can have any text as its document key. */
export function DocumentLink({ to: key }: { to: unknown }) {
  const { environment } = useSession();
  if (typeof key !== 'string') return <>–</>;
  const text = visible(key);
  return (
    <a href={linkTo(environment, ['documents', key])} title={text}>
      {text}
    </a>
  );
}
