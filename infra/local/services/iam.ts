import type { Template } from '../template.ts';
import { ServiceError } from './endpoints.ts';
import { anyMatches } from './policy.ts';

type Values = string | readonly string[];
/** The values of a request by condition key. */
export type RequestContext = Record<string, Values>;

export interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, Values>>;
}

/** Enforces the policies of the template like AWS. An action is denied unless a statement allows it and none denies it. */
export class LocalIam {
  /** The statements of each role. */
  readonly statements = new Map<string, Statement[]>();
  /** Allows everything, for `sam local`, whose containers have the credentials of the shell and no role. */
  isPermissive = false;

  constructor(template: Pick<Template, 'ofType'>) {
    interface Policy {
      Roles: string[];
      PolicyDocument: { Statement: Statement[] };
    }
    for (const { properties } of template.ofType<Policy>('AWS::IAM::Policy')) {
      for (const role of properties.Roles) {
        this.statements.set(role, [...(this.statements.get(role) ?? []), ...properties.PolicyDocument.Statement]);
      }
    }
  }

  /** Returns the statements that allow an action. There are none if a statement denies it. */
  allowing(role: string, action: string, resource: string, context: RequestContext = {}): readonly Statement[] {
    const matching = (this.statements.get(role) ?? []).filter(
      (statement) =>
        anyMatches(statement.Action, action) &&
        anyMatches(statement.Resource, resource) &&
        isMet(statement.Condition ?? {}, context),
    );
    return matching.some(({ Effect }) => Effect === 'Deny') ? [] : matching;
  }

  allows(role: string, action: string, resource: string, context?: RequestContext): boolean {
    return this.isPermissive || this.allowing(role, action, resource, context).length > 0;
  }

  /** Throws the AWS error if a role is not allowed to perform the action. */
  require(role: string, action: string, resource: string, context: RequestContext = {}): void {
    if (this.allows(role, action, resource, context)) return;
    throw new ServiceError('AccessDeniedException', `${role} is not authorized to perform ${action} on ${resource}`);
  }
}

type Operator = (expected: readonly string[], actual: readonly string[]) => boolean;

/** IAM User Guide, "IAM JSON policy elements: Condition operators". */
const OPERATORS: Record<string, Operator> = {
  StringEquals: (expected, actual) => actual.length > 0 && actual.every((value) => expected.includes(value)),
  'ForAnyValue:StringLike': (expected, actual) => actual.some((value) => anyMatches([...expected], value)),
  'ForAllValues:StringEquals': (expected, actual) => actual.every((value) => expected.includes(value)),
  'ForAllValues:StringLike': (expected, actual) => actual.every((value) => anyMatches([...expected], value)),
};

function isMet(condition: NonNullable<Statement['Condition']>, context: RequestContext): boolean {
  return Object.entries(condition).every(([name, keys]) => {
    const operator = OPERATORS[name];
    if (!operator) throw new Error(`The local IAM does not support the operator ${name}`);
    return Object.entries(keys).every(([key, expected]) => operator([expected].flat(), [context[key] ?? []].flat()));
  });
}
