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

/** One action of one statement, and for items of the table one kind of them: the least that can be granted. */
export interface Grant {
  role: string;
  action: string;
  resources: string[];
  kind?: string | undefined;
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
      statements.flatMap((statement) =>
        [statement.Action].flat().flatMap((action) => grantsOf(role, action, statement)),
      ),
    );
  }

  /** The grants that nothing has needed so far: without any of them, all that was done would have been allowed. */
  unneeded(): Grant[] {
    return this.grants().filter((grant) => !this.needed.has(nameOf(grant)));
  }

  /** `isEvidence`: whether the answer shows which grants are needed. */
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
        matching.flatMap((statement) => grantsOf(role, action, statement)),
        context,
      );
    return true;
  }

  /** Throws what AWS throws if a role may not do this. */
  require(
    role: string,
    action: string,
    resource: string,
    context: RequestContext = {},
    options: { isEvidence?: boolean } = {},
  ): void {
    if (this.allows(role, action, resource, context, options)) return;
    throw new ServiceError('AccessDeniedException', `${role} is not authorized to perform ${action} on ${resource}`);
  }

  /** A grant is needed if no other one allows the same for one of the keys. */
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

/** The grants in one action of a statement: one for each kind of items that it is about. */
function grantsOf(role: string, action: string, { Resource, Condition = {} }: Statement): Grant[] {
  const grant = { role, action, resources: [Resource].flat() };
  const kinds = (Condition['ForAnyValue:StringLike'] ?? Condition['ForAllValues:StringLike'])?.[LEADING_KEYS];
  return kinds === undefined ? [grant] : [kinds].flat().map((kind) => ({ ...grant, kind }));
}

const nameOf = ({ role, action, resources, kind = '' }: Grant): string => [role, action, ...resources, kind].join(' ');

type Operator = (wanted: readonly string[], actual: readonly string[]) => boolean;

/** IAM User Guide, "IAM JSON policy elements: Condition operators". */
const OPERATORS: Record<string, Operator> = {
  StringEquals: (wanted, actual) => actual.length > 0 && actual.every((value) => wanted.includes(value)),
  'ForAnyValue:StringLike': (wanted, actual) => actual.some((value) => anyMatches([...wanted], value)),
  'ForAllValues:StringLike': (wanted, actual) => actual.every((value) => anyMatches([...wanted], value)),
};

function isMet(condition: NonNullable<Statement['Condition']>, context: RequestContext): boolean {
  return Object.entries(condition).every(([name, keys]) => {
    const operator = OPERATORS[name];
    if (!operator) throw new Error(`The local IAM does not know the operator ${name}`);
    return Object.entries(keys).every(([key, wanted]) => operator([wanted].flat(), [context[key] ?? []].flat()));
  });
}
