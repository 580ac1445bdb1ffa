import { Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { BundledFunction } from './bundled-function.ts';

/** Kinds of resources that SES checks. */
const KINDS = ['identity', 'configuration-set'];

/**
 * Sending email from one address. SES checks more than that: the identity that is verified (the address, or a domain above it),
 * its default configuration set, and in the sandbox the recipient (SES Developer Guide, "Controlling access to Amazon SES").
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
