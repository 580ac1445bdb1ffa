import type { Template } from '../template.ts';

/** One method of the REST API. */
export interface Route {
  /** The method. `ANY` matches all methods that the resource does not declare. */
  method: string;
  /** The `resource` of proxy events, such as `/v1/keys/{key}`. */
  resource: string;
  segments: string[];
  authorizerId: string | undefined;
  apiKeyRequired: boolean;
  /** The function, or the response of a mock integration. */
  target: { integrationUri: string } | { status: number; headers: Record<string, string> };
}

/** The method of a request, and its path parameters. */
export interface FoundRoute {
  route: Pick<Route, 'resource'>;
  parameters: Record<string, string>;
}

interface ResourceProperties {
  ParentId: string;
  PathPart: string;
}
interface MethodProperties {
  HttpMethod: string;
  ResourceId: string;
  AuthorizerId?: string;
  ApiKeyRequired?: boolean;
  Integration: {
    Type: 'AWS_PROXY' | 'MOCK';
    Uri: string;
    IntegrationResponses?: { StatusCode: string; ResponseParameters: Record<string, string> }[];
  };
}

export function readRoutes(template: Template): Route[] {
  const resources = new Map(
    template.ofType<ResourceProperties>('AWS::ApiGateway::Resource').map(({ id, properties }) => [id, properties]),
  );
  const pathOf = (id: string): string => {
    const resource = resources.get(id);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : '';
  };
  return template.ofType<MethodProperties>('AWS::ApiGateway::Method').map(({ properties }) => {
    const resource = pathOf(properties.ResourceId) || '/';
    const { HttpMethod: method, AuthorizerId: authorizerId, ApiKeyRequired: apiKeyRequired = false } = properties;
    const { Integration } = properties;
    const target = Integration.Type === 'MOCK' ? mockOf(Integration) : { integrationUri: Integration.Uri };
    return { method, resource, segments: segmentsOf(resource), authorizerId, apiKeyRequired, target };
  });
}

function mockOf({ IntegrationResponses = [] }: MethodProperties['Integration']) {
  const [response] = IntegrationResponses;
  const headers = Object.entries(response?.ResponseParameters ?? {}).map(([name, value]) => [
    name.replace('method.response.header.', ''),
    value.slice(1, -1), // a constant is in quotes
  ]);
  return { status: Number(response?.StatusCode), headers: Object.fromEntries(headers) };
}

/** The methods of API Gateway, which `ANY` includes (API Gateway Developer Guide, "Set up an HTTP method"). */
export const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/**
 * Finds the method of the most specific resource. A literal segment takes precedence over a parameter, regardless of the methods,
 * as in API Gateway. Parameters stay percent-encoded, because REST APIs, unlike HTTP APIs, do not decode them. A trailing slash
 * does not change the route, but the event contains it (measured: aws-powertools/powertools-lambda-python#1552).
 */
export function findRoute<Found extends Pick<Route, 'method' | 'resource' | 'segments'>>(
  routes: readonly Found[],
  method: string,
  path: string,
): { route: Found; parameters: Record<string, string> } | undefined {
  const pathSegments = segmentsOf(path.length > 1 ? path.replace(/\/$/, '') : path);
  const [first] = routes
    .filter(({ segments }) => segments.length === pathSegments.length)
    .filter(({ segments }) =>
      segments.every((segment, i) => (isParameter(segment) ? pathSegments[i] !== '' : segment === pathSegments[i])),
    )
    .sort((a, b) => literals(b) - literals(a));
  const methods = routes.filter(({ resource }) => resource === first?.resource);
  const route =
    methods.find((each) => each.method === method) ??
    methods.find((each) => each.method === 'ANY' && METHODS.includes(method));
  if (!route) return undefined;
  const parameters = route.segments.flatMap((segment, i) =>
    isParameter(segment) ? [[segment.slice(1, -1), pathSegments[i] ?? '']] : [],
  );
  return { route, parameters: Object.fromEntries(parameters) };
}

const segmentsOf = (path: string): string[] => (path === '/' ? [] : path.split('/').slice(1));
const isParameter = (segment: string): boolean => segment.startsWith('{');
const literals = ({ segments }: Pick<Route, 'segments'>): number =>
  segments.filter((segment) => !isParameter(segment)).length;
