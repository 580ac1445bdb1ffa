// The browser imports this file too, so it must stay small.

/** Browsers do not send the fragment of a URL to a server. */
const START = '#session=';

/** The URL that signs in with a session. */
export const dashboardLink = (dashboardUrl: string, session: string): string => dashboardUrl + START + session;

/** The session in the fragment of a URL, or `null` if the fragment is another one. */
export const sessionIn = (fragment: string): string | null =>
  fragment.startsWith(START) ? fragment.slice(START.length) : null;
