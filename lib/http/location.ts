import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Operation } from './operation.ts';

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
