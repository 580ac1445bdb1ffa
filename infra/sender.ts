import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { BundledFunction } from './bundled-function.ts';

/** Sending email from an address. SES checks the identity that is verified: the address, or its domain. */
export function grantSendEmail(fn: BundledFunction, senderEmail: string): void {
  const domain = senderEmail.slice(senderEmail.indexOf('@') + 1);
  const resources = [senderEmail, domain].map((resourceName) =>
    Stack.of(fn).formatArn({ service: 'ses', resource: 'identity', resourceName }),
  );
  fn.addToRolePolicy(new PolicyStatement({ actions: ['ses:SendEmail'], resources }));
}
