import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ItemKind } from '../lib/deployment.ts';

const ACTIONS = {
  get: 'dynamodb:GetItem',
  'batch get': 'dynamodb:BatchGetItem',
  query: 'dynamodb:Query',
  put: 'dynamodb:PutItem',
  update: 'dynamodb:UpdateItem',
  delete: 'dynamodb:DeleteItem',
  check: 'dynamodb:ConditionCheckItem',
} as const;
type TableAction = keyof typeof ACTIONS;

/** The members of a transaction are authorized as these actions. */
const IN_TRANSACTIONS: readonly TableAction[] = ['put', 'update', 'delete', 'check'];

/** The actions that a function can perform on each kind of item. */
export type TableGrant = Partial<Record<ItemKind, readonly TableAction[]>>;

/** For operations with an Idempotency-Key. They store and replay the response, and release the key after a problem. */
export const IDEMPOTENCY = { IDEMPOTENCY: ['get', 'put', 'update', 'delete'] } as const satisfies TableGrant;

/** Every function checks the layout of the table before it writes (lib/aws/layout.ts). */
const CHECK_LAYOUT = 'get' satisfies TableAction;

/**
 * The statements of a grant, on the table and none of its indexes. The kind of an item is the prefix of its partition key
 * (DynamoDB Developer Guide, "Using IAM policy conditions for fine-grained access control").
 *
 * A transaction is authorized by its member actions ("Using IAM with DynamoDB transactions"). AWS does not document whether the
 * leading keys are those of the member or of the whole transaction, so the statements allow both: one key must be of a granted
 * kind, and the others can be of kinds that the function writes. For a single item, only the granted kinds remain.
 */
export function statementsOf(granted: TableGrant, tableArn: string): PolicyStatement[] {
  const grant: TableGrant = { ...granted, VERSION: [CHECK_LAYOUT, ...(granted.VERSION ?? [])] };
  const kindsOf = (isGranted: (actions: readonly TableAction[]) => boolean) =>
    Object.entries(grant).flatMap(([kind, actions]) => (isGranted(actions) ? `${kind}#*` : []));
  const written = kindsOf((actions) => actions.some((action) => IN_TRANSACTIONS.includes(action)));
  const actions = (Object.keys(ACTIONS) as TableAction[]).filter((action) => kindsOf((all) => all.includes(action))[0]);
  const bySubject = Map.groupBy(actions, (action) =>
    JSON.stringify([IN_TRANSACTIONS.includes(action), kindsOf((all) => all.includes(action))]),
  );
  return Array.from(bySubject, ([subject, alike]) => {
    const [isInTransactions, kinds] = JSON.parse(subject) as [boolean, string[]];
    const only = (all: readonly string[]) => ({ 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': all } });
    const oneOf = { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': kinds } };
    return new PolicyStatement({
      actions: alike.map((action) => ACTIONS[action]),
      resources: [tableArn],
      conditions: isInTransactions ? { ...oneOf, ...only(written) } : only(kinds),
    });
  });
}
