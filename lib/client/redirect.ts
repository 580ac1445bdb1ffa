/** The option of `fetch` for each request. Not every runtime has `error`. */
export const DIRECT = { redirect: 'manual' } as const;

/**
 * Returns a response, unless it is a redirect. Another server must not receive a token or an event, or decide what a token can access.
 * A browser hides the status of a redirect, and a `fetch` of the application can follow redirects.
 */
export function direct(response: Response, url: string): Response {
  const { status, type, redirected, headers } = response;
  if (![301, 302, 303, 307, 308].includes(status) && type !== 'opaqueredirect' && !redirected) return response;
  const target = headers.get('Location');
  throw new Error(
    `${new URL(url).origin} redirects requests${target ? ` to ${target}` : ''}. Set baseUrl to the final address of the service.`,
  );
}
