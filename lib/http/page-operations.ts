import * as v from 'valibot';
import { operation } from './operation.ts';

const page = { function: 'dashboard', callers: 'anyone', method: 'GET', problems: ['route_not_found'] } as const;
const html = { ...page, produces: 'text/html', responses: { 200: v.string() } } as const;
const text = { ...page, produces: 'text/plain', responses: { 200: v.string() } } as const;
const file = {
  ...page,
  produces: '*/*',
  responses: { 200: v.string() },
  parameters: {
    file: {
      resource: 'file',
      schema: v.string(),
      description: 'The name of a page, or of a file with the hash of its content.',
      example: 'app-5XQ3TN2K.js',
    },
  },
} as const;

/** The pages for browsers: files that the synthesis creates, without secrets. */
export const pageOperations = {
  openHome: operation({
    ...page,
    path: '/',
    summary: 'Redirect to the dashboard',
    responses: { 302: null },
    responseHeaders: ['Location'],
    problems: [],
  }),
  getOpenApi: operation({
    ...page,
    path: '/v1/openapi.json',
    summary: 'Get the OpenAPI 3.1 document',
    responses: { 200: v.looseObject({ openapi: v.string() }) },
  }),
  openDashboard: operation({ ...html, path: '/dashboard', summary: 'Open the dashboard' }),
  getDashboardFile: operation({ ...file, path: '/dashboard/{file}', summary: 'Get a file of the dashboard' }),
  openReference: operation({ ...html, path: '/docs', summary: 'Open the documentation' }),
  getReferenceFile: operation({
    ...file,
    path: '/docs/{file}',
    summary: 'Get a page or file of the documentation',
  }),
  listPages: operation({ ...text, path: '/llms.txt', summary: 'List the pages of the documentation as Markdown' }),
  getSecurityContact: operation({
    ...text,
    path: '/.well-known/security.txt',
    summary: 'Get the address for reports of vulnerabilities (RFC 9116), if the operator has set one',
  }),
};
