import * as v from 'valibot';
import { PublishedKeys } from '../access/leaks.ts';
import { UnavailableError } from '../errors.ts';
import type { Clock } from './system.ts';

const TIMEOUT_MS = 5000;
/** An unknown identifier is looked up at most so often: anyone can make one up, and GitHub limits the requests of an address. */
const REFRESH_MS = 5 * 60 * 1000;

/** The keys that a scanner publishes at a URL, kept from one request to the next. */
export function publishedKeys(url: string, clock: Clock) {
  let known = new Map<string, string>();
  let fetchedAt = Number.NEGATIVE_INFINITY;

  /** The key of an identifier (PEM), if it is published. Throws `UnavailableError` if they cannot be read. */
  return async (identifier: string): Promise<string | undefined> => {
    if (!known.has(identifier) && clock() - fetchedAt >= REFRESH_MS) {
      known = await load();
      fetchedAt = clock();
    }
    return known.get(identifier);
  };

  async function load(): Promise<Map<string, string>> {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      const { public_keys } = v.parse(PublishedKeys, await response.json());
      return new Map(public_keys.map(({ key_identifier, key }) => [key_identifier, key]));
    } catch (error) {
      throw new UnavailableError(error);
    }
  }
}
