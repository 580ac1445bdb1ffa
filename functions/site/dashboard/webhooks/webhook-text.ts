import { printable } from '../../../../lib/printable.ts';

/** The visible text of a description. Clients of the API can set a blank one. */
export const descriptionText = (webhook: { description: string | null } | undefined): string =>
  printable(webhook?.description ?? '').trim();

/** The name of a webhook: its description, or else its address. */
export const webhookName = (webhook: { url: string; description: string | null }): string =>
  descriptionText(webhook) || webhook.url.replace(/^https:\/\//, '');

/** The lines of a text that are not empty. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

type Headers = Record<string, string>;

/** The value that the API shows for every header. */
const HIDDEN = '***';

/** Parses one header per line. A line without a colon is a name without a value, which the API rejects. */
export const headersOf = (text: string): Headers =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), value.join(':').trim()];
    }),
  );

export const headerText = (headers: Headers): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** Returns why a text cannot be sent as headers. A change of headers sends all of them, also those with a hidden value. */
export function problemIn(text: string, saved = ''): string | undefined {
  if (text === saved) return undefined;
  const headers = headersOf(text);
  const named = linesOf(text).filter((line) => line.includes(':')); // in other lines, the user may still be typing
  if (Object.keys(headersOf(named.join('\n'))).length < named.length) return 'need a different name in each line';
  const [name] = Object.entries(headers).find(([, value]) => value === HIDDEN) ?? [];
  return name === undefined ? undefined : `need the value of ${name} again, because saved values are hidden`;
}

/** The rate limit in a text. A text that is not a number becomes 0, which the API rejects. */
export const limitOf = (text: string): number | null => (text.trim() === '' ? null : Number(text) || 0);

export const limitText = (limit: number | null): string => (limit === null ? '' : String(limit));
