import type { Template } from '../template.ts';

interface RawResource {
  Type: string;
  DependsOn?: string[];
  Metadata?: object;
  Properties: { HttpMethod?: string; Architectures?: string[]; Environment?: { Variables: Record<string, unknown> } };
}
interface RawTemplate {
  Resources: Record<string, RawResource>;
}

/** The name of a function for `sam local`, which is its logical id without the hash of the CDK. */
export const functionName = (logicalId: string): string => logicalId.slice(0, -8);

/**
 * Converts a synthesized template for `sam local`, and returns the environment variables of each function by its name. `sam
 * local` sets only variables that the template declares, so the template declares all of them.
 */
export function samTemplate(raw: RawTemplate, template: Template, environment: Record<string, string>) {
  const { AWS_REGION: _, AWS_SECRET_ACCESS_KEY: __, ...endpoints } = environment; // reserved: sam sets these itself
  const functions = template.ofType<{ Environment?: { Variables: Record<string, string> } }>('AWS::Lambda::Function');
  const variables: Record<string, Record<string, string>> = {};
  const Resources = withoutAny(raw.Resources);
  for (const { id, properties } of functions) {
    const values = { ...properties.Environment?.Variables, ...endpoints };
    variables[functionName(id)] = values;
    const resource = Resources[id];
    if (!resource) continue;
    const declared = Object.fromEntries(Object.keys(values).map((name) => [name, '']));
    Resources[id] = {
      ...resource,
      Metadata: { ...resource.Metadata, SamResourceId: functionName(id) },
      Properties: {
        ...resource.Properties,
        Architectures: [process.arch === 'arm64' ? 'arm64' : 'x86_64'], // containers run on this machine
        Environment: { Variables: { ...declared, ...resource.Properties.Environment?.Variables } },
      },
    };
  }
  return { template: { ...raw, Resources }, variables };
}

/**
 * Removes the methods `ANY`. `sam local start-api` expands each to seven methods, and the last method of a path wins, so they
 * would replace the operations (`_create_dict_key` and `_create_routes` of samcli/local/apigw/local_apigw_service.py).
 */
function withoutAny(resources: RawTemplate['Resources']): RawTemplate['Resources'] {
  const isAny = (id: string) =>
    resources[id]?.Type === 'AWS::ApiGateway::Method' && resources[id].Properties.HttpMethod === 'ANY';
  return Object.fromEntries(
    Object.entries(resources)
      .filter(([id]) => !isAny(id))
      .map(([id, { DependsOn, ...resource }]) => [
        id,
        DependsOn ? { ...resource, DependsOn: DependsOn.filter((other) => !isAny(other)) } : resource,
      ]),
  );
}
