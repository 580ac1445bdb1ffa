import type http from 'node:http';

/** Returns the operation from a header, from a form field, or from the method and the first part of the path. */
export function actionOf(method: string, path: string, headers: http.IncomingHttpHeaders, body: string): string {
  const target = headers['x-amz-target'];
  if (typeof target === 'string') return target.split('.').at(-1) ?? '';
  return new URLSearchParams(body).get('Action') ?? `${method} ${path.split('/')[1]}`;
}

/** Whether a request is in the Query protocol. */
export const isForm = (headers: http.IncomingHttpHeaders): boolean =>
  headers['content-type']?.includes('urlencoded') ?? false;
