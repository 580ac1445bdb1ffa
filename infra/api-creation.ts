import { CfnResource } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** The parts that CloudFormation creates at the same time. Each takes seconds and some requests. */
const AT_A_TIME = 5;

/** Each type depends only on itself and on earlier ones. */
const TYPES = ['GatewayResponse', 'Resource', 'Method'].map((name) => `AWS::ApiGateway::${name}`);

/**
 * Limits how many parts of an API CloudFormation creates or deletes at the same time. Otherwise it starts all methods as soon as their
 * functions exist. An account can make ten such requests per second with a burst of 40, and five for new resources (API Gateway
 * quotas). A deployment can fail if API Gateway throttles more of them (https://github.com/aws/aws-cdk/issues/15573).
 */
export function createGradually(api: Construct): void {
  const parts = api.node.findAll().filter((part) => CfnResource.isCfnResource(part));
  const ordered = TYPES.flatMap((type) => parts.filter(({ cfnResourceType }) => cfnResourceType === type));
  ordered.forEach((part, i) => {
    const earlier = ordered[i - AT_A_TIME];
    if (earlier) part.addResourceDependency(earlier);
  });
}
