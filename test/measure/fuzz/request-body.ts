import { openApi, violationsOf } from '../../../infra/commands/smoke/openapi.ts';
import { operations } from '../../../lib/api/operations.ts';
import type { FuzzRequest } from './requests.ts';

/**
 * Returns why the operation must reject a body: invalid UTF-8, invalid JSON, or a violation of the OpenAPI document. An empty
 * list does not prove that the body is valid, because the document does not describe every rule. The body of a GET has no meaning
 * (RFC 9110 §9.3.1).
 */
export function bodyViolations({ operationId, body }: FuzzRequest): string[] {
  const { path, method: upperCased } = operations[operationId];
  if (body === null || body.length === 0 || upperCased === 'GET') return [];
  const json = parse(body);
  if (json instanceof Error) return [json.message];
  const method = upperCased.toLowerCase();
  const described = openApi.paths[path]?.[method] as { requestBody?: object };
  if (described.requestBody) {
    return violationsOf(json, 'paths', path, method, 'requestBody', 'content', 'application/json', 'schema');
  }
  return JSON.stringify(json) === '{}' ? [] : ['this operation has no body'];
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    return error;
  }
}
