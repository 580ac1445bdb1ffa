import { useEffect, useState } from 'preact/hooks';
import type { Environment } from '../../../../lib/space.ts';
import { useIsLeft } from './hooks.ts';

/** The current location, such as `#/live/webhooks/whk_1?status=failed`. The hash never reaches the server. */
export interface Place {
  environment: Environment;
  /** URL-decoded, without the environment. */
  segments: string[];
  query: URLSearchParams;
}

export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [environment = '', ...segments] = path.split('/').filter(Boolean).map(decoded);
  return { environment: environment === 'sandbox' ? 'sandbox' : 'live', segments, query: new URLSearchParams(query) };
}

/** The parameters with these names. A missing one is empty. */
export const parametersOf = <Name extends string>(query: URLSearchParams, ...names: Name[]): Record<Name, string> =>
  Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Record<Name, string>;

/** The link to a page without its empty parameters. */
export function linkTo(
  environment: Environment,
  segments: readonly string[] = [],
  query: Record<string, string | undefined> = {},
): string {
  const parameters = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(parameters).toString();
  return `#/${[environment, ...segments].map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

export function goTo(link: string): void {
  location.hash = link;
  follow(); // immediately, because a quick next choice must include this one
}

/** Returns `goTo` for the end of a request. It does nothing if the user has left the page. */
export function useGoTo(): typeof goTo {
  const isLeft = useIsLeft();
  return (link) => {
    if (!isLeft.current) goTo(link);
  };
}

/** Opens a place on top of the current one, such as a drawer. Going back or closing it returns here. */
export function openOver(link: string): void {
  history.pushState({ isOver: true }, '', link);
  follow();
}

/** Closes such a place and shows the one below. A page that was opened directly has no history entry to go back to. */
export function closeOver(below: string): void {
  if ((history.state as { isOver?: true } | null)?.isOver) history.back();
  else replaceBy(below);
}

/** Replaces the current place in the history. */
export function replaceBy(link: string): void {
  history.replaceState(history.state, '', link);
  follow();
}

// The browser sends this event later, and only for links and history navigation.
const follow = () => dispatchEvent(new HashChangeEvent('hashchange'));

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return placeOf(hash);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
