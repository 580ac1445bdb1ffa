import { createHash } from 'node:crypto';
import { Aws, Stack } from 'aws-cdk-lib';
import {
  ApiKey,
  CfnUsagePlanKey,
  type MethodDeploymentOptions,
  type RestApi,
  type ThrottlingPerMethod,
  UsagePlan,
} from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { operations, operationsByPath } from '../lib/api/operations.ts';
import type { Operation } from '../lib/http/operation.ts';
import { allowsCrossOrigin, methodsOf } from '../lib/http/route.ts';
import { SHARES, shareKey } from '../lib/projects/project.ts';
import { pinLogicalId } from './logical-ids.ts';

/** The throttle of a public operation, for all callers together. Browsers and CDNs can cache pages. */
const OF_PUBLIC = { throttlingRateLimit: 25, throttlingBurstLimit: 250 };

/** The throttle of a preflight. Browsers cache the response per URL, so each document costs every browser client one request. */
const OF_PREFLIGHT = { throttlingRateLimit: 250, throttlingBurstLimit: 500 };

/**
 * Operations that read much of the table, with the requests per second of a share to each of their methods: 100 events and six
 * partitions of an index for a page of events, 16 partitions for a log, one for each webhook in stats and in the list of webhooks, and
 * 16 for each of five statuses in the count of a recovery, which can need 1,200 read units. The burst is twice the rate.
 */
const COSTLY = [
  [operations.listEvents, 50],
  [operations.listDeliveries, 50],
  [operations.getStats, 50],
  [operations.listWebhooks, 50],
  [operations.getRecovery, 10],
  [operations.recover, 10],
] as const satisfies (readonly [Operation, number])[];

/**
 * The throttles of all methods without the authorizer. A limit of the stage applies to each of its methods (API Gateway
 * Developer Guide, "Throttle requests to your REST APIs"). CloudFormation patches three members per method, and `UpdateStage`
 * accepts 80 patch operations, so a stage has room for 26 such methods.
 */
export function publicThrottles(): Record<string, MethodDeploymentOptions> {
  const throttles = [...operationsByPath].flatMap(([path, operations]) => {
    const open = operations.filter(({ callers }) => callers === 'anyone').flatMap(methodsOf);
    return [
      ...open.map((method) => [`${path}/${method}`, OF_PUBLIC] as const),
      ...(operations.some(allowsCrossOrigin) ? [[`${path}/OPTIONS`, OF_PREFLIGHT] as const] : []),
    ];
  });
  return Object.fromEntries(throttles);
}

/**
 * The prefix of the stack's API key values. API Gateway requires unique values and does not document the scope, so the prefix
 * contains the account. An account has only one stack of a name in a region, and API keys belong to a region.
 */
export const sharePrefix = (stackName: string): string =>
  createHash('sha256').update(stackName).digest('hex').slice(0, 30) + Aws.ACCOUNT_ID;

/** The burst for a rate: two seconds of it, and at most the quota of an account (API Gateway quotas). */
export const burstOf = (ratePerSecond: number): number => Math.min(2 * ratePerSecond, 5000);

/**
 * The throttles of costly operations. Each share has its own, so that a project that polls a list does not affect other projects
 * (API Gateway Developer Guide, "Per-client or per-method throttling limits that you set in a usage plan").
 */
function costlyThrottles({ methods }: RestApi, perSecond: number): ThrottlingPerMethod[] {
  const rates = new Map(
    COSTLY.flatMap(([operation, rate]) => methodsOf(operation).map((method) => [`${operation.path} ${method}`, rate])),
  );
  return methods.flatMap((method) => {
    const rate = rates.get(`${method.resource.path} ${method.httpMethod}`);
    if (rate === undefined) return [];
    const rateLimit = Math.min(rate, perSecond);
    return { method, throttle: { rateLimit, burstLimit: burstOf(rateLimit) } };
  });
}

/** The shares of the API, each with its own throttle. The authorizer returns the share of a request. */
export class ProjectShares extends Construct {
  constructor(scope: Construct, id: string, { restApi, perSecond }: { restApi: RestApi; perSecond: number }) {
    super(scope, id);
    const { stackName } = Stack.of(this);
    const plan = new UsagePlan(this, 'Plan', {
      name: stackName,
      description: 'Requests of one share of the projects',
      throttle: { rateLimit: perSecond, burstLimit: burstOf(perSecond) },
      apiStages: [{ api: restApi, stage: restApi.deploymentStage, throttle: costlyThrottles(restApi, perSecond) }],
    });
    pinLogicalId(plan, 'UsagePlan');
    // API Gateway adds one key at a time to a plan. Parallel calls fail with a conflict that CloudFormation does not retry. An
    // account can create five keys per second (API Gateway quotas), so the keys are created one after another too.
    let previous: { key: ApiKey; member: CfnUsagePlanKey } | undefined;
    for (let share = 0; share < SHARES; share++) {
      const value = shareKey(sharePrefix(stackName), share);
      const key = new ApiKey(this, `Share${share}`, { value, description: `Share ${share} of ${stackName}` });
      const membership = { keyId: key.keyId, keyType: 'API_KEY', usagePlanId: plan.usagePlanId };
      const member = new CfnUsagePlanKey(this, `Member${share}`, membership);
      pinLogicalId(key, shareKey('ShareKey', share));
      pinLogicalId(member, shareKey('ShareMember', share));
      if (previous) {
        key.node.addDependency(previous.key);
        member.addResourceDependency(previous.member);
      }
      previous = { key, member };
    }
  }
}
