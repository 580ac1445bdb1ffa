import { Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { BundledFunction } from './bundled-function.ts';

/** The kinds of resources that SES authorizes. */
const KINDS = ['identity', 'configuration-set'];

/**
 * Allows a function to send email from one address. SES also authorizes the verified identity (the address or one of its
 * domains), its default configuration set, and in the sandbox the recipient (SES Developer Guide, "Controlling access to Amazon
 * SES").
 */
export function grantSendEmail(fn: BundledFunction, senderEmail: string): void {
  const stack = Stack.of(fn);
  const resources = KINDS.map((resource) => stack.formatArn({ service: 'ses', resource, resourceName: '*' }));
  const conditions = { StringEquals: { 'ses:FromAddress': senderEmail } };
  fn.addToRolePolicy(new PolicyStatement({ actions: ['ses:SendEmail'], resources, conditions }));
  for (const kind of KINDS) {
    Validations.of(fn.role as Role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:${kind}/*]`,
      reason: 'The sender is fixed by a condition',
    });
  }
}
