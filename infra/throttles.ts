import { createHash } from 'node:crypto';
import { ApiKey, type MethodDeploymentOptions, type RestApi, UsagePlan } from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { SHARES, shareKey } from '../lib/access/shares.ts';
import { methodsOf, operationsByPath } from '../lib/api/operations.ts';
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

/** What the API keys of this stack begin with: there is no second stack of that name in a region of an account. */
export const sharePrefix = ({ stackName }: Settings): string =>
  createHash('sha256').update(stackName).digest('hex').slice(0, 30);

/** The shares of the API, each with a throttle of its own. The authorizer says which one a request belongs to. */
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
    for (let share = 0; share < SHARES; share++) {
      const value = shareKey(sharePrefix(settings), share);
      plan.addApiKey(new ApiKey(this, `Share${share}`, { value, description: `Share ${share} of ${stackName}` }));
    }
  }
}
