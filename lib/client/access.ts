import { isObject, requireArgument, requireFunction } from './arguments.ts';

/** Where and with which credential to send requests. */
export interface Access {
  /** `{base_url}` of the API, with its stage. */
  baseUrl: string;
  /** An API key, or for `createClient` also a scoped token. A publisher and a token verifier need an admin, live or test key. */
  credential: string;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

/** Checks the options of a function that sends requests. Throws `TypeError`. */
export function requireAccess(options: unknown): asserts options is Access {
  requireArgument(isObject(options), 'an object with baseUrl and credential', options);
  const { baseUrl, credential, fetch } = options;
  requireArgument(isBaseUrl(baseUrl), 'baseUrl as the URL of the service, such as https://api.example.com', baseUrl);
  requireArgument(
    !/\/v1\/*$/.test(baseUrl),
    'baseUrl without the version of the API, such as https://api.example.com',
    baseUrl,
  );
  // The syntax of RFC 6750, section 2.1. A variable of an .env file can contain quotes or a line break.
  requireArgument(
    typeof credential === 'string' && /^[\w.~+/-]+=*$/.test(credential),
    'credential as an API key or a scoped token without quotes, spaces or "Bearer"',
    credential,
  );
  requireFunction('fetch', fetch);
}

function isBaseUrl(value: unknown): value is string {
  if (typeof value !== 'string' || !/^https?:\/\/[^\s?#]+$/i.test(value) || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return `${username}${password}` === '';
}

/** The URL of a path of the API. */
export const urlOf = (baseUrl: string, path: string): string => baseUrl.replace(/\/+$/, '') + path;
