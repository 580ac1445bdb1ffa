import { ServiceError } from './endpoints.ts';
import { anyMatches } from './policy.ts';
import type { Template } from './template.ts';

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: string | string[];
  Condition?: { StringEquals?: Record<string, string> };
}

/** One action of one statement: the least that can be struck out. */
export interface Grant {
  role: string;
  action: string;
  resources: string[];
}

/** The policies of the template, enforced as in the cloud: what no statement allows, or one denies, is denied. */
export class LocalIam {
  private readonly statements = new Map<string, Statement[]>();
  /** Left out of every decision: lets a test see that each grant is needed. */
  struck: Grant | undefined;
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

  allows(role: string, action: string, resource: string, context: Record<string, string> = {}): boolean {
    if (this.isPermissive) return true;
    const matching = (this.statements.get(role) ?? []).filter(
      (statement) =>
        !this.isStruck(role, action, statement) &&
        anyMatches(statement.Action, action) &&
        anyMatches(statement.Resource, resource) &&
        Object.entries(statement.Condition?.StringEquals ?? {}).every(([key, value]) => context[key] === value),
    );
    return matching.some(({ Effect }) => Effect === 'Allow') && !matching.some(({ Effect }) => Effect === 'Deny');
  }

  /** Throws what AWS answers if a role may not do this. */
  require(role: string, action: string, resource: string, context: Record<string, string> = {}): void {
    if (this.allows(role, action, resource, context)) return;
    throw new ServiceError('AccessDeniedException', `${role} is not authorized to perform ${action} on ${resource}`);
  }

  private isStruck(role: string, action: string, { Resource }: Statement): boolean {
    const { struck } = this;
    return struck?.role === role && struck.action === action && [Resource].flat().join() === struck.resources.join();
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
