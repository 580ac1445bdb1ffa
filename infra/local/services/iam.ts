import type { Template } from '../template.ts';
import { ServiceError } from './endpoints.ts';
import { anyMatches } from './policy.ts';

type Values = string | readonly string[];
/** What a request says about itself, by condition key. */
export type RequestContext = Record<string, Values>;

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, Values>>;
}

/** One action of one statement: the least that can be granted. */
export interface Grant {
  role: string;
  action: string;
  resources: string[];
}

/** The policies of the template, enforced as in the cloud: what no statement allows, or one denies, is denied. */
export class LocalIam {
  private readonly statements = new Map<string, Statement[]>();
  private readonly needed = new Set<string>();
  /** For `sam local`, whose containers have the credentials of the shell and no role. */
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

  /** Every grant of every role. */
  grants(): Grant[] {
    return [...this.statements].flatMap(([role, statements]) =>
      statements.flatMap(({ Action, Resource }) =>
        [Action].flat().map((action) => ({ role, action, resources: [Resource].flat() })),
      ),
    );
  }

  /** The grants that nothing has needed so far: without any of them, all that was done would have been allowed. */
  unneeded(): Grant[] {
    return this.grants().filter((grant) => !this.needed.has(nameOf(grant)));
  }

  allows(role: string, action: string, resource: string, context: RequestContext = {}): boolean {
    if (this.isPermissive) return true;
    const matching = (this.statements.get(role) ?? []).filter(
      (statement) =>
        anyMatches(statement.Action, action) &&
        anyMatches(statement.Resource, resource) &&
        isMet(statement.Condition ?? {}, context),
    );
    if (matching.some(({ Effect }) => Effect === 'Deny')) return false;
    const allowing = new Set(matching.map(({ Resource }) => nameOf({ role, action, resources: [Resource].flat() })));
    if (allowing.size === 1) for (const grant of allowing) this.needed.add(grant);
    return allowing.size > 0;
  }

  /** Throws what AWS throws if a role may not do this. */
  require(role: string, action: string, resource: string, context: RequestContext = {}): void {
    if (this.allows(role, action, resource, context)) return;
    throw new ServiceError('AccessDeniedException', `${role} is not authorized to perform ${action} on ${resource}`);
  }
}

const nameOf = ({ role, action, resources }: Grant): string => [role, action, ...resources].join(' ');

type Operator = (wanted: readonly string[], actual: readonly string[]) => boolean;

/** IAM User Guide, "IAM JSON policy elements: Condition operators". */
const OPERATORS: Record<string, Operator> = {
  StringEquals: (wanted, actual) => actual.length > 0 && actual.every((value) => wanted.includes(value)),
  'ForAllValues:StringLike': (wanted, actual) => actual.every((value) => anyMatches([...wanted], value)),
};

function isMet(condition: NonNullable<Statement['Condition']>, context: RequestContext): boolean {
  return Object.entries(condition).every(([name, keys]) => {
    const operator = OPERATORS[name];
    if (!operator) throw new Error(`The local IAM does not know the operator ${name}`);
    return Object.entries(keys).every(([key, wanted]) => operator([wanted].flat(), [context[key] ?? []].flat()));
  });
}
