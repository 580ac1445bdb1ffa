import type { Template } from '../template.ts';
import type { GatewayResponse } from './proxy-result.ts';

interface ResponseProperties {
  ResponseType: string;
  StatusCode?: string;
  ResponseParameters?: Record<string, string>;
  ResponseTemplates?: Record<string, string>;
}

interface GatewayContext {
  requestId: string;
  authorizer?: Record<string, unknown> | undefined;
}

/** Reads the responses of the gateway itself from the template. */
export function readGatewayResponses(template: Pick<Template, 'ofType'>) {
  const declared = new Map(
    template
      .ofType<ResponseProperties>('AWS::ApiGateway::GatewayResponse')
      .map(({ properties }) => [properties.ResponseType, properties]),
  );
  return (type: string, context: GatewayContext): GatewayResponse => {
    const response = declared.get(type);
    if (!response) throw new Error(`The template declares no gateway response ${type}`);
    const headers = Object.entries(response.ResponseParameters ?? {}).map(([name, value]) => [
      name.replace('gatewayresponse.header.', ''),
      value.startsWith("'") ? value.slice(1, -1) : variable(value, context),
    ]);
    const body = (response.ResponseTemplates?.['application/json'] ?? '').replace(/\$(context\.[\w.]+)/g, (_, name) =>
      variable(name, context),
    );
    const statusCode = Number(response.StatusCode);
    return { type, statusCode, headers: Object.fromEntries(headers), body: Buffer.from(body) };
  };
}

/** The value of `context.requestId` or of a member such as `context.authorizer.code`. Empty if there is none. */
function variable(name: string, context: GatewayContext): string {
  let value: unknown = context;
  for (const part of name.split('.').slice(1)) value = (value as Record<string, unknown> | undefined)?.[part];
  return String(value ?? '');
}
