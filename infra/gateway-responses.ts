import { GatewayResponse, type IRestApi, ResponseType } from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import { COMMON_HEADERS, CORS_HEADERS, problemHeaders } from '../lib/http/headers.ts';
import {
  OUTCOME_UNKNOWN,
  PROBLEM_TYPE,
  PROBLEMS,
  type ProblemCode,
  problemBody,
  problemType,
} from '../lib/http/problems.ts';

// For rules that an operator can add to the API, such as a web ACL.
const FILTERED = 'Contact the operator with the request id. A rule set by the operator blocked this request.';

const SLOW_DOWN = 'Send the request again after the number of seconds in Retry-After.';
/** Only for responses before any function of an operation started. */
const NOT_STARTED = `${SLOW_DOWN} Nothing was changed.`;
const SEE_REFERENCE = 'See the API reference for all operations.';

// The responses of API Gateway itself, as problem documents in the same format as the responses of functions.
const RESPONSES: [type: ResponseType, code: ProblemCode, detail: string][] = [
  [ResponseType.UNAUTHORIZED, 'unauthorized', 'Send a valid key or token as Authorization: Bearer <credential>.'],
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, 'route_not_found', SEE_REFERENCE],
  [ResponseType.RESOURCE_NOT_FOUND, 'route_not_found', SEE_REFERENCE],
  // For an unknown route with a Bearer header, because API Gateway expects an AWS signature there.
  [ResponseType.INVALID_SIGNATURE, 'route_not_found', SEE_REFERENCE],
  [ResponseType.REQUEST_TOO_LARGE, 'payload_too_large', 'Send a body of at most 1 MiB.'],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, 'unsupported_media_type', 'Send the body as Content-Type: application/json.'],
  [ResponseType.THROTTLED, 'too_many_requests', SLOW_DOWN],
  [ResponseType.AUTHORIZER_FAILURE, 'unavailable', NOT_STARTED],
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, 'unavailable', NOT_STARTED],
  // The authorizer named a share key that the usage plan does not contain. Callers never send one.
  [ResponseType.INVALID_API_KEY, 'unavailable', NOT_STARTED],
  [ResponseType.INTEGRATION_TIMEOUT, 'unavailable', OUTCOME_UNKNOWN],
  [ResponseType.INTEGRATION_FAILURE, 'unavailable', OUTCOME_UNKNOWN],
  [ResponseType.DEFAULT_5XX, 'internal_error', OUTCOME_UNKNOWN],
  [ResponseType.WAF_FILTERED, 'insufficient_permissions', FILTERED],
  // Its status applies to every undeclared type (API Gateway Developer Guide). Those types need a request validator, a quota or an
  // AWS signature, and the API has none of them.
  [ResponseType.DEFAULT_4XX, 'invalid_request', 'Correct the request and send it again.'],
];

export function addGatewayResponses(scope: Construct, restApi: IRestApi, baseUrl: string): void {
  for (const [type, code, detail] of RESPONSES) {
    add(type, PROBLEMS[code].status, problemBody({ code, detail, errors: undefined }, '$context.requestId', baseUrl));
  }
  // The authorizer returns one of a few codes. The response contains nothing else from the request.
  const of = (name: string) => `$context.authorizer.${name}`;
  add(ResponseType.ACCESS_DENIED, 403, {
    type: problemType(baseUrl, of('code')),
    title: of('title'),
    status: 403,
    detail: of('detail'),
    code: of('code'),
    request_id: '$context.requestId',
  });

  function add(type: ResponseType, status: number, body: object): void {
    const headers = {
      'Content-Type': PROBLEM_TYPE,
      'Cache-Control': 'no-store', // caches can store a 404 without it (RFC 9110, section 15.1)
      ...COMMON_HEADERS,
      'X-Frame-Options': 'DENY', // a CSP contains quotes, which this quoted value cannot
      ...problemHeaders(status),
      ...CORS_HEADERS,
    };
    new GatewayResponse(scope, `Response${type.responseType}`, {
      restApi,
      type,
      statusCode: String(status),
      responseHeaders: {
        'X-Request-Id': 'context.requestId',
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`])),
      },
      templates: { 'application/json': JSON.stringify(body) },
    });
  }
}
