import type { Template } from '../template.ts';

interface RawTemplate {
  Resources: Record<string, { Metadata?: object; Properties: { Environment: { Variables: Record<string, unknown> } } }>;
}

/** By which `sam local` knows a function: its logical id without the hash that CDK appends. */
export const functionName = (logicalId: string): string => logicalId.slice(0, -8);

/**
 * Turns a synthesized template into one that `sam local` runs on this machine, and says what its functions need to know: the
 * environment variables of each, by its name. `sam local` sets only variables that the template declares, so all are declared.
 */
export function samTemplate(raw: RawTemplate, template: Template, environment: Record<string, string>) {
  const { AWS_REGION: _, AWS_SECRET_ACCESS_KEY: __, ...endpoints } = environment; // reserved: sam sets these itself
  const functions = template.ofType<{ Environment?: { Variables: Record<string, string> } }>('AWS::Lambda::Function');
  const variables: Record<string, Record<string, string>> = {};
  const Resources = { ...raw.Resources };
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
        Environment: { Variables: { ...declared, ...resource.Properties.Environment?.Variables } },
      },
    };
  }
  return { template: { ...raw, Resources }, variables };
}
