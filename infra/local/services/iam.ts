import type { Template } from '../template.ts';
import { ServiceError } from './endpoints.ts';
import { anyMatches } from './policy.ts';

type Values = string | readonly string[];
/** The values of a request by condition key. */
export type RequestContext = Record<string, Values>;

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, Values>>;
}

/** The smallest grant: one action of one statement for one resource, and for table items one kind. */
export interface Grant {
  role: string;
  action: string;
  resource: string;
  kind?: string | undefined;
}

/** Enforces the policies of the template like AWS. An action is denied unless a statement allows it and none denies it. */
export class LocalIam {
  private readonly statements = new Map<string, Statement[]>();
  private readonly needed = new Set<string>();
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

  /** Returns every grant of every role. */
  grants(): Grant[] {
    return [...this.statements].flatMap(([role, statements]) =>
      statements.flatMap((statement) =>
        [statement.Action].flat().flatMap((action) => grantsOf(role, action, statement)),
      ),
    );
  }

  /** Returns the grants that no request has needed. Without any one of them, every request would still have been allowed. */
  unneeded(): Grant[] {
    return this.grants().filter((grant) => !this.needed.has(nameOf(grant)));
  }

  /** `isEvidence` states whether the result proves that grants are needed. */
  allows(
    role: string,
    action: string,
    resource: string,
    context: RequestContext = {},
    { isEvidence = true } = {},
  ): boolean {
    if (this.isPermissive) return true;
    const matching = (this.statements.get(role) ?? []).filter(
      (statement) =>
        anyMatches(statement.Action, action) &&
        anyMatches(statement.Resource, resource) &&
        isMet(statement.Condition ?? {}, context),
    );
    if (matching.length === 0 || matching.some(({ Effect }) => Effect === 'Deny')) return false;
    if (isEvidence)
      this.noteNeeded(
        matching
          .flatMap((statement) => grantsOf(role, action, statement))
          .filter((grant) => anyMatches(grant.resource, resource)),
        context,
      );
    return true;
  }

  /** Throws the AWS error if a role is not allowed to perform the action. */
  require(role: string, action: string, resource: string, context: RequestContext = {}): void {
    if (this.allows(role, action, resource, context)) return;
    throw new ServiceError('AccessDeniedException', `${role} is not authorized to perform ${action} on ${resource}`);
  }

  /** A grant is needed if no other grant allows the action for one of the keys. */
  private noteNeeded(allowing: readonly Grant[], context: RequestContext): void {
    const keys = [context[LEADING_KEYS] ?? []].flat();
    for (const key of keys.length > 0 ? keys : [undefined]) {
      const names = new Set(
        allowing.filter(({ kind }) => kind === undefined || (key && anyMatches(kind, key))).map(nameOf),
      );
      if (names.size === 1) for (const name of names) this.needed.add(name);
    }
  }
}

const LEADING_KEYS = 'dynamodb:LeadingKeys';

/** Returns the grants in one action of a statement, one for each resource and kind of item. */
function grantsOf(role: string, action: string, { Resource, Condition = {} }: Statement): Grant[] {
  const kinds = (Condition['ForAnyValue:StringLike'] ?? Condition['ForAllValues:StringLike'])?.[LEADING_KEYS];
  const each = kinds === undefined ? [undefined] : [kinds].flat();
  return [Resource].flat().flatMap((resource) => each.map((kind) => ({ role, action, resource, kind })));
}

const nameOf = ({ role, action, resource, kind = '' }: Grant): string => [role, action, resource, kind].join(' ');

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
