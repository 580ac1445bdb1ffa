import { createHash } from 'node:crypto';
import { Aws } from 'aws-cdk-lib';
import {
  ApiKey,
  CfnUsagePlanKey,
  type MethodDeploymentOptions,
  type RestApi,
  UsagePlan,
} from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { SHARES, shareKey } from '../lib/access/shares.ts';
import { methodsOf, operationsByPath } from '../lib/api/operations.ts';
import { pinLogicalId } from './logical-ids.ts';
import type { Settings } from './settings.ts';

/** Of a page, for all who look at it together: browsers and CDNs can keep it. */
const OF_PAGE = { throttlingRateLimit: 25, throttlingBurstLimit: 250 };

/**
 * The throttles of methods that anyone may call: strangers can ask for so much and no more. A stage's limits are for each of its
 * methods (API Gateway Developer Guide, "Throttle requests to your REST APIs"). What `ANY` stands for cannot be named, and
 * of more than 26 methods CloudFormation would have to patch the stage in several steps (API reference of `UpdateStage`: 80 operations).
 */
export function publicThrottles(): Record<string, MethodDeploymentOptions> {
  const methods = [...operationsByPath].flatMap(([path, operations]) =>
    operations
      .filter(({ callers }) => callers === 'anyone')
      .flatMap(methodsOf)
      .map((method) => `${path}/${method}`),
  );
  return Object.fromEntries(methods.map((method) => [method, OF_PAGE]));
}

/**
 * The prefix of the stack's API key values. API Gateway requires unique values and does not document the scope, so the prefix
 * contains the account. An account has only one stack of a name in a region, and API keys belong to a region.
 */
export const sharePrefix = ({ stackName }: Settings): string =>
  createHash('sha256').update(stackName).digest('hex').slice(0, 30) + Aws.ACCOUNT_ID;

/** The shares of the API, each with its own throttle. The authorizer returns the share of a request. */
export class ProjectShares extends Construct {
  constructor(scope: Construct, id: string, { restApi, settings }: { restApi: RestApi; settings: Settings }) {
    super(scope, id);
    const { stackName, projectThrottleRate, projectThrottleBurst } = settings;
    const plan = new UsagePlan(this, 'Plan', {
      name: stackName,
      description: 'Requests of one share of the projects',
      throttle: { rateLimit: projectThrottleRate, burstLimit: projectThrottleBurst },
      apiStages: [{ api: restApi, stage: restApi.deploymentStage }],
    });
    pinLogicalId(plan, 'UsagePlan');
    // API Gateway adds one key at a time to a plan. Parallel calls fail with a conflict that CloudFormation does not retry.
    let previous: CfnUsagePlanKey | undefined;
    for (let share = 0; share < SHARES; share++) {
      const value = shareKey(sharePrefix(settings), share);
      const key = new ApiKey(this, `Share${share}`, { value, description: `Share ${share} of ${stackName}` });
      const keyId = key.keyId;
      const member = new CfnUsagePlanKey(this, `Member${share}`, {
        keyId,
        keyType: 'API_KEY',
        usagePlanId: plan.usagePlanId,
      });
      pinLogicalId(key, shareKey('ShareKey', share));
      pinLogicalId(member, shareKey('ShareMember', share));
      if (previous) member.addResourceDependency(previous);
      previous = member;
    }
  }
}
