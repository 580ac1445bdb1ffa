import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Operation } from './operation.ts';

/**
 * The base URL of the API, without a trailing slash. It comes from the template and never from a request, so that no caller chooses
 * the links of a response or an email. Empty while an upgrade has changed the code of a function and not its variables. Links are
 * then relative, and emails have none.
 */
export const baseUrlOf = ({ variables }: { variables: Readonly<Record<string, string | undefined>> }): string =>
  variables.BASE_URL ?? '';

/** The URL of the dashboard of the API with a base URL. */
export const dashboardOf = (baseUrl: string): string => (baseUrl === '' ? '' : `${baseUrl}/dashboard`);

/** The `Location` of a 201, which is the absolute URL of the new resource (RFC 9110 §10.2.2). */
export function locationHeader(
  { statusCode, body }: APIGatewayProxyResult,
  { location }: Pick<Operation, 'location'>,
  baseUrl: string,
): Record<string, string> {
  if (statusCode !== 201 || location === undefined) return {};
  const resource: Record<string, unknown> = JSON.parse(body);
  return { Location: baseUrl + location.replace(/\{(\w+)\}/, (_, member: string) => String(resource[member])) };
}
