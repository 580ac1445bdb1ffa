import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Operation } from '../api/operation.ts';

/** `Location` of a 201: where the new resource is, as an absolute URL (RFC 9110 §10.2.2). */
export function locationHeader(
  { statusCode, body }: APIGatewayProxyResult,
  { location }: Pick<Operation, 'location'>,
  baseUrl: string,
): Record<string, string> {
  if (statusCode !== 201 || location === undefined) return {};
  const resource: Record<string, unknown> = JSON.parse(body);
  return { Location: baseUrl + location.replace(/\{(\w+)\}/, (_, member: string) => String(resource[member])) };
}
