import type { Template } from 'aws-cdk-lib/assertions';

// biome-ignore lint/suspicious/noExplicitAny: properties of any type of resource
type Properties = Record<string, any>;

export interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, unknown>>;
}

/** The resources of one type, by logical id. */
export function resourcesOf(template: Template, type: string): [string, Properties][] {
  const found = Object.entries(template.findResources(type));
  return found.map(([id, { Properties = {}, DeletionPolicy }]) => [id, { ...Properties, DeletionPolicy }]);
}

/** A value with references as `${Id}` and `${Id.Attribute}`, like those of `Fn::Sub`. */
export const withReferences = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, each) => {
    if (each?.Ref) return `\${${each.Ref}}`;
    if (each?.['Fn::GetAtt']) return `\${${each['Fn::GetAtt'].join('.')}}`;
    const [separator, parts] = each?.['Fn::Join'] ?? [];
    const asText = (part: unknown) => (typeof part === 'string' ? part : JSON.stringify(part));
    return parts?.map(asText).join(separator) ?? each;
  });

/** The logical id behind `Ref` or `Fn::GetAtt`. */
export const idIn = (reference: { Ref?: string; 'Fn::GetAtt'?: [string, string] } | undefined): string =>
  reference?.Ref ?? reference?.['Fn::GetAtt']?.[0] ?? '';

/** The statements of all policies of a role. */
export const statementsOf = (template: Template, role: string): Statement[] =>
  resourcesOf(template, 'AWS::IAM::Policy')
    .filter(([, { Roles }]) => Roles.some((each: object) => idIn(each) === role))
    .flatMap(([, { PolicyDocument }]) => PolicyDocument.Statement);

export const actionsOf = ({ Action }: Pick<Statement, 'Action'>): string[] => [Action].flat();

/** Whether a statement names a resource, or a part of it. */
export const isOn = ({ Resource }: Statement, id: string): boolean =>
  JSON.stringify(Resource).includes(`"Fn::GetAtt":["${id}",`);

/** The event source mappings with their function. */
export function mappingsOf(template: Template) {
  const functions = Object.fromEntries(resourcesOf(template, 'AWS::Lambda::Function'));
  return resourcesOf(template, 'AWS::Lambda::EventSourceMapping').map(([id, mapping]) => {
    const functionId = idIn(mapping.FunctionName);
    const isStream = mapping.StartingPosition !== undefined;
    return { id, mapping, isStream, source: idIn(mapping.EventSourceArn), fn: functions[functionId] as Properties };
  });
}
