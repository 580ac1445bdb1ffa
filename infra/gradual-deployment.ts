import { Validations } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Alias, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

const POLICY = 'service-role/AWSCodeDeployRoleForLambdaLimited';

/**
 * Deploys new code of functions to a tenth of their requests first, and to the others ten minutes later. An alarm in this time
 * rolls all of them back with the stack (CodeDeploy User Guide, "Deployments on an AWS Lambda compute platform").
 */
export class GradualDeployment extends Construct {
  private readonly aliases: Alias[] = [];

  /** Returns an alias to invoke instead of the function. */
  aliasOf(fn: LambdaFunction): Alias {
    const alias = new Alias(this, fn.node.id, { aliasName: 'live', version: fn.currentVersion });
    this.aliases.push(alias);
    return alias;
  }

  aliasesOf<Name extends string>(functions: Record<Name, LambdaFunction>): Record<Name, Alias> {
    const aliases = Object.entries<LambdaFunction>(functions).map(([name, fn]) => [name, this.aliasOf(fn)]);
    return Object.fromEntries(aliases);
  }

  /** Rolls back on an alarm, which must not depend on a method of the API. */
  rollBackOn(alarm: Alarm): void {
    const application = new LambdaApplication(this, 'Application');
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(POLICY)],
    });
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${POLICY}]`,
      reason: 'The policy that CodeDeploy requires. It can only move aliases, read alarms and call hooks',
    });
    for (const alias of this.aliases) {
      new LambdaDeploymentGroup(this, `${alias.node.id}Group`, {
        application,
        role,
        alias,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
        alarms: [alarm],
      });
    }
  }
}
