import { useLoaded } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';
import { exactKeyText, type Find, knownKeys, similarPlaces } from './similar-keys.ts';

interface HintProps {
  /** The text that found nothing. */
  of: string;
  /** Finds something for another key, or for this one without the other filters. */
  find: Find;
}

/** What a text that found nothing may mean. Each link leads to something. */
export function KeyHint({ of: text, find }: HintProps) {
  const { call, environment } = useSession();
  const similar = useLoaded(`${environment} ${text}`, async () => {
    const exact = await find(text);
    const known = exact ? [] : await knownKeys(call);
    return { value: { exact, known, others: await similarPlaces(text, known, find) } };
  });
  if (!similar.value) return null;
  const { exact, known, others } = similar.value;
  if (exact)
    return (
      <p>
        Found elsewhere: <a href={exact.href}>{exact.text}</a>
      </p>
    );
  if (others.length === 0) return <p>{exactKeyText(known.find((key) => key !== text))}</p>;
  return (
    <p>
      Did you mean{' '}
      {others.map(({ text: key, href }, i) => (
        <span key={href}>
          {i > 0 && (i === others.length - 1 ? ' or ' : ', ')}
          <a href={href}>{key}</a>
        </span>
      ))}
      ?
    </p>
  );
}
