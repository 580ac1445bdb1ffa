import type { Template } from '../template.ts';
import { ServiceError } from './endpoints.ts';
import { anyMatches } from './policy.ts';

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: string | string[];
  Condition?: { StringEquals?: Record<string, string> };
}

/** One action of one statement: the least that can be withheld. */
export interface Grant {
  role: string;
  action: string;
  resources: string[];
}

/** The policies of the template, enforced as in the cloud: what no statement allows, or one denies, is denied. */
export class LocalIam {
  private readonly statements = new Map<string, Statement[]>();
  private withheld: Grant | undefined;
  private asked = () => {};
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

  /**
   * Leaves a grant out of every decision: lets a test see that each is needed. Resolves when it is asked for, and would have
   * been needed.
   */
  withhold(grant: Grant | undefined): Promise<void> {
    this.withheld = grant;
    return new Promise((resolve) => {
      this.asked = resolve;
    });
  }

  allows(role: string, action: string, resource: string, context: Record<string, string> = {}): boolean {
    if (this.isPermissive) return true;
    const matching = (this.statements.get(role) ?? []).filter(
      (statement) =>
        anyMatches(statement.Action, action) &&
        anyMatches(statement.Resource, resource) &&
        Object.entries(statement.Condition?.StringEquals ?? {}).every(([key, value]) => context[key] === value),
    );
    if (matching.some(({ Effect }) => Effect === 'Deny')) return false;
    const allowing = matching.filter(({ Effect }) => Effect === 'Allow');
    const left = allowing.filter((statement) => !this.isWithheld(role, action, statement));
    if (left.length < allowing.length && left.length === 0) this.asked();
    return left.length > 0;
  }

  /** Throws what AWS throws if a role may not do this. */
  require(role: string, action: string, resource: string, context: Record<string, string> = {}): void {
    if (this.allows(role, action, resource, context)) return;
    throw new ServiceError('AccessDeniedException', `${role} is not authorized to perform ${action} on ${resource}`);
  }

  private isWithheld(role: string, action: string, { Resource }: Statement): boolean {
    const isSame = [Resource].flat().join() === this.withheld?.resources.join();
    return isSame && this.withheld?.role === role && this.withheld.action === action;
  }
}

interface DynamoDbInput {
  TableName?: string;
  IndexName?: string;
  RequestItems?: Record<string, unknown>;
  TransactItems?: Record<string, { TableName: string }>[];
}

/** What a request to DynamoDB asks for, as IAM sees it: a transaction is the writes in it. */
export function dynamoDbActions(
  target: string,
  body: string,
  tableArn: (name: string) => string,
): [action: string, resource: string][] {
  const operation = target.split('.').at(-1) ?? '';
  const { TableName, IndexName, RequestItems, TransactItems } = JSON.parse(body) as DynamoDbInput;
  const actionOf = {
    Put: 'PutItem',
    Update: 'UpdateItem',
    Delete: 'DeleteItem',
    ConditionCheck: 'ConditionCheckItem',
  } as Record<string, string>;
  if (TransactItems) {
    return TransactItems.flatMap((item) =>
      Object.entries(item).map(([kind, input]): [string, string] => [
        `dynamodb:${actionOf[kind]}`,
        tableArn(input.TableName),
      ]),
    );
  }
  const resources = RequestItems
    ? Object.keys(RequestItems).map(tableArn)
    : [`${tableArn(TableName ?? '')}${IndexName ? `/index/${IndexName}` : ''}`];
  return resources.map((resource) => [`dynamodb:${operation}`, resource]);
}
