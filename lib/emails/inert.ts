import { emailText } from '../printable.ts';
import { charactersOf } from '../schema.ts';

/** Dots, also those that email clients read as dots in a host name. */
const DOTS = /[.\u2024\u3002\ufe52\uff0e\uff61](?=\S)/g;
/** Readers see a dot, and clients do not: RFC 3490 §3.1 lists the characters that separate the labels of a host name. */
export const MIDDLE_DOT = '\u00b7';
/** The end of a scheme, as in `https://` and `mailto:`. */
const SCHEMES = /:(?=\/\/)|(?<=[a-z]):(?=\S)/gi;
/** The start of a network path, as in `\\host\share`. */
const NETWORK_PATHS = /\\(?=\\)/g;
/**
 * Five or more digits that phones can link as one telephone number, with the characters between them (`VALID_PUNCTUATION` of
 * libphonenumber, which allows four).
 */
const TELEPHONE_NUMBERS =
  /\p{Nd}(?:[\p{Zs}\t\p{Pd}\p{Ps}\p{Pe}./+~\u2053\u223c\uff5e\uff0e\uff0f\u00ad]{0,4}\p{Nd}){4,}/gu;

/** Adds an underscore before every fifth digit. No telephone number contains one. */
function separated(number: string): string {
  let digits = 0;
  return number.replace(/\p{Nd}/gu, (digit) => (digits++ > 0 && digits % 4 === 1 ? `_${digit}` : digit));
}

/**
 * Text of a customer or an endpoint that no email client turns into a link. Emails come from the operator, so a link of a customer
 * would look like a link of the operator.
 */
export const inert = (text: string): string =>
  emailText(text)
    .replace(TELEPHONE_NUMBERS, separated)
    .replace(DOTS, MIDDLE_DOT)
    .replace(SCHEMES, ': ')
    .replace(NETWORK_PATHS, '\\ ');

/**
 * A URL without its scheme, as `example·com/hook`. Clients link every form that could be pasted into a browser, so readers copy the URL
 * from the dashboard.
 */
export const inertUrl = (url: string): string => inert(url.replace(/^https?:\/\//, ''));

/** The maximum number of characters of a customer in a subject. */
const MAX_SUBJECT = 60;

/** The same for a subject: letters, digits, spaces, hyphens and underscores. Empty if nothing is left. */
export const inertSubject = (text: string): string =>
  charactersOf(inert(text.replace(/[^\p{L}\p{M}\p{Nd}\p{Zs}_-]+/gu, ' ')).replace(/\p{Zs}+/gu, ' '))
    .slice(0, MAX_SUBJECT)
    .join('')
    .trim();
