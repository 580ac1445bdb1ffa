import { type FunctionProperties, modulePathOf } from '../../infra/local/lambda/lambda.ts';
import { Template } from '../../infra/local/template.ts';

export interface Bundle {
  /** The name of the function. */
  name: string;
  path: string;
  variables: Record<string, string>;
}

/** The bundle and the variables of every function of an assembly. The lanes share one. */
export function bundlesOf(assembly: string): Bundle[] {
  const template = new Template(assembly, { queuesUrl: 'http://127.0.0.1', tablePrefix: '', baseUrl: '' });
  const functions = template.ofType<FunctionProperties>('AWS::Lambda::Function').map(({ properties }) => {
    const variables = properties.Environment?.Variables ?? {};
    const name = variables.POWERTOOLS_SERVICE_NAME ?? '';
    return [name, { name, path: modulePathOf(template, properties), variables }] as const;
  });
  return [...new Map(functions).values()];
}
