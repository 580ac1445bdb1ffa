import { inject } from 'vitest';
import type { FunctionProperties } from '../../infra/local/lambda/lambda.ts';
import { converted, marshalled, OPERATIONS } from '../../infra/local/memory/requests.ts';
import { dynamoDbActions } from '../../infra/local/services/dynamodb-request.ts';
import { LocalIam, type RequestContext, type Statement } from '../../infra/local/services/iam.ts';
import { anyMatches } from '../../infra/local/services/policy.ts';
import { ACCOUNT, REGION, type Template } from '../../infra/local/template.ts';
import { readTemplate } from '../stack/local/gateway.ts';
import type { Command } from './runtime.ts';

export const arn = (service: string, resource: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${resource}`;
export const lastPart = (url = '') => url.split('/').at(-1) ?? '';

/** The smallest grant: one action of one statement for one resource, and for table items one kind. */
interface Grant {
  role: string;
  action: string;
  resource: string;
  kind?: string | undefined;
}

const LEADING_KEYS = 'dynamodb:LeadingKeys';

/** The grants in one action of a statement, one for each resource and kind of item. */
function grantsOf(role: string, action: string, { Resource, Condition = {} }: Statement): Grant[] {
  const kinds = (Condition['ForAnyValue:StringLike'] ?? Condition['ForAllValues:StringLike'])?.[LEADING_KEYS];
  const each = kinds === undefined ? [undefined] : [kinds].flat();
  return [Resource].flat().flatMap((resource) => each.map((kind) => ({ role, action, resource, kind })));
}

const nameOf = ({ role, action, resource, kind = '' }: Grant): string => [role, action, resource, kind].join(' ');

/** The permissions of the functions of a template. `denied` contains those that they used and do not have. */
export function permissionsOf(template: Template) {
  const iam = new LocalIam(template);

  /** The functions of the template by their names in `functions/`, those of lanes with their lane. */
  const functions = new Map(
    template.ofType<FunctionProperties>('AWS::Lambda::Function').map(({ id, properties }) => {
      const variables = properties.Environment?.Variables ?? {};
      const { POWERTOOLS_SERVICE_NAME: name = '', LANE } = variables;
      const role = lastPart(properties.Role);
      return [LANE ? `${name} ${LANE}` : name, { id, role, variables, logs: properties.LoggingConfig.LogGroup }];
    }),
  );
  const denied = new Set<string>();
  const needed = new Set<string>();
  /** Uses a permission. It is denied if the role does not have it. Without `isEvidence`, the use does not count as a need. */
  function use(role: string, action: string, resource: string, context: RequestContext = {}, isEvidence = true): void {
    const statements = iam.allowing(role, action, resource, context);
    if (statements.length === 0) denied.add(`${role} ${action} ${resource}`);
    if (!isEvidence) return;
    const allowing = statements
      .flatMap((statement) => grantsOf(role, action, statement))
      .filter((grant) => anyMatches(grant.resource, resource));
    // A grant is needed if no other grant allows the action for one of the keys.
    const keys = [context[LEADING_KEYS] ?? []].flat();
    for (const key of keys.length > 0 ? keys : [undefined]) {
      const all = allowing.filter(({ kind }) => kind === undefined || (key && anyMatches(kind, key)));
      const names = new Set(all.map(nameOf));
      if (names.size === 1) for (const name of names) needed.add(name);
    }
  }
  const grants = [...iam.statements].flatMap(([role, statements]) =>
    statements.flatMap((statement) => [statement.Action].flat().flatMap((action) => grantsOf(role, action, statement))),
  );
  /** The grants that no use has needed. Without any one of them, every use would still have been allowed. */
  const unneeded = () => grants.map(nameOf).filter((name) => !needed.has(name));

  /** The permissions that a command of a function needs. */
  function useCommand(name: string, { name: command, input }: Command): void {
    const { role, variables = {} } = functions.get(name) ?? {};
    if (!role) throw new Error(`The template has no function ${name}`);
    if (command === 'SendMessageBatch') {
      use(role, 'sqs:SendMessage', arn('sqs', lastPart(variables[lastPart(input.QueueUrl)])));
      return;
    }
    if (command === 'CreateSchedule') {
      use(role, 'scheduler:CreateSchedule', arn('scheduler', `schedule/${variables.SCHEDULE_GROUP}/${input.Name}`));
      const context = { 'iam:PassedToService': 'scheduler.amazonaws.com' };
      use(role, 'iam:PassRole', variables.SCHEDULE_ROLE_ARN ?? '', context);
      return;
    }
    if (command === 'SendEmail') {
      const context = { 'ses:FromAddress': variables.SENDER_EMAIL ?? '' };
      for (const resource of ['identity/example.com', `configuration-set/${variables.CONFIGURATION_SET}`])
        use(role, 'ses:SendEmail', arn('ses', resource), context);
      return;
    }
    const request = converted(input, marshalled);
    const operation = OPERATIONS[command] ?? '';
    for (const each of dynamoDbActions(operation, request, () => arn('dynamodb', `table/${variables.TABLE_NAME}`))) {
      const context = {
        'dynamodb:LeadingKeys': each.leadingKeys,
        'dynamodb:Attributes': each.attributes ?? [],
        ...(each.select && { 'dynamodb:Select': each.select }),
      };
      use(role, each.action, each.resource, context, !each.isOfAll);
    }
  }

  return { functions, denied, unneeded, use, useCommand };
}

/** The permissions that a kind of command lacks, as text. */
const lacking = new Map<string, string>();
let deployed: ReturnType<typeof permissionsOf> | undefined;

/** Throws like AWS if the role of a deployed function does not allow a command. Without a synthesized template, everything is allowed. */
export function requirePermission(name: string, command: Command): void {
  if (!inject('assembly')) return;
  const kind = `${name} ${kindOf(command)}`;
  if (!lacking.has(kind)) {
    deployed ??= permissionsOf(readTemplate());
    deployed.denied.clear();
    deployed.useCommand(name, command);
    lacking.set(kind, [...deployed.denied].join());
  }
  const text = lacking.get(kind);
  if (text) throw Object.assign(new Error(`Not allowed: ${text}`), { name: 'AccessDeniedException', $metadata: {} });
}

/** A text that is equal for commands with the same permissions: it contains the kinds of their items and the attributes that they name. */
function kindOf({ name, input }: Command): string {
  const parts: [string, Command['input']][] = input.TransactItems?.flatMap(Object.entries) ?? [[name, input]];
  return parts.map(([kind, part]) => [kind, ...kindsIn(part), ...namesIn(part)].join()).join(' ');
}

function kindsIn({ Key, Item, RequestItems, KeyConditionExpression, ...part }: Command['input']): Set<string> {
  const [value = ''] = /:\w+/.exec(KeyConditionExpression) ?? [];
  const keys = Object.values<{ Keys: { pk: string }[] }>(RequestItems ?? {}).flatMap(({ Keys }) => Keys);
  const partitions = [Key?.pk, Item?.pk, part.ExpressionAttributeValues?.[value], ...keys.map(({ pk }) => pk)];
  return new Set(partitions.map((each) => String(each).split('#')[0] ?? ''));
}

function namesIn({ IndexName, ProjectionExpression, Select, QueueUrl, ...part }: Command['input']): unknown[] {
  return [IndexName, ProjectionExpression, Select, QueueUrl, ...Object.values(part.ExpressionAttributeNames ?? {})];
}
