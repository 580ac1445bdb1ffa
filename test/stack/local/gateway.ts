import http from 'node:http';
import { inject } from 'vitest';
import { createGateway } from '../../../infra/local/gateway/api-gateway.ts';
import { Template } from '../../../infra/local/template.ts';
import { listen } from '../../support/endpoints.ts';

interface TestGatewayOptions {
  /** The function of every operation. */
  invoke: (event: Record<string, unknown>) => unknown;
  /** Overrides properties of resources, by their type. */
  properties?: Record<string, object>;
  /** The resource in the policy of the authorizer. The default is any. */
  resource?: string;
  /** The API key that the authorizer returns. The default is one of the template. */
  apiKey?: (event: Record<string, unknown>) => string | undefined;
  /** The clock in milliseconds, which does not advance by default. */
  now?: () => number;
}

/** A synthesized template without policies, names and addresses. */
export function readTemplate(assembly = inject('assembly')): Template {
  return new Template(assembly, { queuesUrl: 'http://127.0.0.1', tablePrefix: '', baseUrl: '' });
}

/** The API keys of the shares. */
export const apiKeys = (template: Template): string[] =>
  template.ofType<{ Value: string }>('AWS::ApiGateway::ApiKey').map(({ properties }) => properties.Value);

/** Starts the gateway of the synthesized template, with an authorizer that allows everything. */
export async function startGateway({
  invoke,
  properties,
  resource: allowed = '*',
  apiKey,
  now = () => 0,
}: TestGatewayOptions) {
  const template = readTemplate();
  const { resource } = template;
  const [aKey] = apiKeys(template);
  template.resource = function <Properties>(this: Template, id: string) {
    const found = resource.call(this, id);
    return { ...found, properties: Object.assign({}, found.properties, properties?.[found.type]) as Properties };
  };
  const invocable = {
    invoke: async (given: unknown) => {
      const event = given as Record<string, unknown>;
      return event.type === 'REQUEST'
        ? { ...allowing(allowed), usageIdentifierKey: apiKey ? apiKey(event) : aKey }
        : invoke(event);
    },
  };
  const respond = createGateway(template, () => invocable, now);
  const server = http.createServer((request, response) => void respond(request, response));
  return { url: `http://127.0.0.1:${await listen(server)}` };
}

const allowing = (Resource: string) => ({
  principalId: 'anyone',
  policyDocument: { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: '*', Resource }] },
});
