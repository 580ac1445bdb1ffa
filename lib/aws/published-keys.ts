import * as v from 'valibot';
import { PublishedKeys } from '../access/leak-reports.ts';
import { UnavailableError } from '../errors.ts';
import type { Clock } from './system.ts';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 64 * 1024;
/** After this time, the keys are fetched again, because the scanner can withdraw one. */
const MAX_AGE_MS = 60 * 60 * 1000;
/** Callers can invent identifiers, and GitHub limits the requests of an address. */
const UNKNOWN_IDENTIFIER_MS = 5 * 60 * 1000;
/** For this time, a failed fetch is not repeated. */
const FAILURE_MS = 60 * 1000;

/** The keys that a scanner publishes at a URL, kept between requests. One fetch runs at a time. */
export function publishedKeys(url: string, clock: Clock) {
  let known = new Map<string, string>();
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let failure: { at: number; error: UnavailableError } | undefined;
  let fetching: Promise<void> | undefined;

  /** The key of an identifier (PEM), if it is published. Throws `UnavailableError` if the keys cannot be read. */
  return async (identifier: string): Promise<string | undefined> => {
    const maxAge = known.has(identifier) ? MAX_AGE_MS : UNKNOWN_IDENTIFIER_MS;
    if (clock() - fetchedAt >= maxAge) {
      if (failure && clock() - failure.at < FAILURE_MS) throw failure.error;
      fetching ??= refresh().finally(() => {
        fetching = undefined;
      });
      await fetching;
    }
    return known.get(identifier);
  };

  async function refresh(): Promise<void> {
    try {
      known = await fetchKeys(url);
      fetchedAt = clock();
      failure = undefined;
    } catch (error) {
      failure = { at: clock(), error: new UnavailableError(error) };
      throw failure.error;
    }
  }
}

async function fetchKeys(url: string): Promise<Map<string, string>> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`The response has the status ${response.status}`);
  const { public_keys } = v.parse(PublishedKeys, JSON.parse(await textOf(response)));
  return new Map(public_keys.map(({ key_identifier, key }) => [key_identifier, key]));
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`The response has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
