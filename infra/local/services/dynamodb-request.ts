type Attribute = { S?: string };
type Key = Record<string, Attribute>;

interface Operation {
  TableName?: string;
  IndexName?: string;
  Key?: Key;
  ProjectionExpression?: string;
  Select?: string;
  Item?: Key;
  KeyConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Key;
}

interface DynamoDbInput extends Operation {
  RequestItems?: Record<string, { Keys: Key[] }>;
  TransactItems?: Record<string, Operation>[];
}

/** An action for IAM to authorize, with its resource and partition keys. */
export interface AskedAction {
  action: string;
  resource: string;
  leadingKeys: string[];
  /** The attributes that the request names, and its `Select`. */
  attributes?: string[];
  select?: string;
  /** Set for the check of a transaction member that uses the keys of all members. */
  isOfAll?: true;
}

/** The read operations that functions call. */
export const READS: ReadonlySet<string> = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);

const WRITES: Record<string, string> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

/**
 * The actions that IAM authorizes for a DynamoDB request. A transaction needs the action of each member. AWS does not document
 * whether the leading keys are those of the member or of all members, so IAM must allow both.
 */
export function dynamoDbActions(
  operation: string,
  input: DynamoDbInput,
  tableArn: (name: string) => string,
): AskedAction[] {
  const action = `dynamodb:${operation}`;
  if (input.TransactItems) {
    const writes = input.TransactItems.flatMap((item) => Object.entries(item));
    const all = writes.flatMap(([, write]) => leadingKeysOf(write));
    return writes.flatMap(([kind, write]) => {
      const permission = { action: `dynamodb:${WRITES[kind]}`, resource: tableArn(write.TableName ?? '') };
      return [
        { ...permission, leadingKeys: leadingKeysOf(write) },
        { ...permission, leadingKeys: all, isOfAll: true },
      ];
    });
  }
  if (input.RequestItems) {
    return Object.entries(input.RequestItems).map(([name, { Keys }]) => ({
      action,
      resource: tableArn(name),
      leadingKeys: Keys.flatMap((Key) => leadingKeysOf({ Key })),
    }));
  }
  const index = input.IndexName ? `/index/${input.IndexName}` : '';
  const resource = `${tableArn(input.TableName ?? '')}${index}`;
  const { ProjectionExpression = '', ExpressionAttributeNames = {}, Select } = input;
  const projected = ProjectionExpression.split(',').map((name) => name.trim());
  const written = projected.filter((name) => name && !name.startsWith('#'));
  // The names of other expressions, such as a filter, count too.
  const attributes = [...new Set([...written, ...Object.values(ExpressionAttributeNames)])];
  const permission = { action, resource, leadingKeys: leadingKeysOf(input) };
  return [{ ...permission, ...(attributes.length > 0 && { attributes }), ...(Select && { select: Select }) }];
}

/** Reads only key conditions that start with the partition key, such as `pk = :pk AND …`. */
function leadingKeysOf(operation: Operation): string[] {
  const { Key, Item, KeyConditionExpression, ExpressionAttributeValues } = operation;
  const compared = /^\s*[#\w]+\s*=\s*(:\w+)/.exec(KeyConditionExpression ?? '')?.[1];
  if (KeyConditionExpression !== undefined && !compared)
    throw new Error(`The local IAM cannot read the partition key in ${KeyConditionExpression}`);
  const value = compared ? ExpressionAttributeValues?.[compared] : (Key ?? Item)?.pk;
  return value?.S === undefined ? [] : [value.S];
}
