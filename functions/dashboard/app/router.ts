import { useEffect, useState } from 'preact/hooks';
import type { Environment } from '../../../lib/space.ts';

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

/** The link to a place; empty parameters are left out. */
export function linkTo(
  environment: Environment,
  segments: readonly string[] = [],
  query: Record<string, string | undefined> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${[environment, ...segments].map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

export const goTo = (link: string): void => {
  location.hash = link;
};

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
