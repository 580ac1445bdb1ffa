import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, it } from 'vitest';
import type { SettingsInput } from '../../../infra/settings.ts';
import { createApp } from '../../../infra/stack.ts';
import { appProps, everyOption, network, table, topicArn } from '../../infra/synth.ts';

/** Together, they contain every value and every default of each setting. */
const COMBINATIONS: SettingsInput[] = [everyOption, { table, egress: network, alarms: { topicArn } }];

/** The findings of cdk-nag that are intended, with the beginning of their rule and a part of the path of the construct. */
const INTENDED: readonly [rule: string, path: string, reason: string][] = [
  ['APIG2', '/RestApi/', 'The functions validate every part of a request, and list every violation'],
  ['APIG3', '/RestApi/', 'A web ACL costs money every month, so it is a setting'],
  ['APIG4', '/RestApi/', 'Pages, their scripts and the description of the API contain no secret'],
  ['APIG6', '/RestApi/', 'Execution logs contain paths, and a path can contain a key. There is an access log'],
  ['COG4', '/RestApi/', 'Credentials are API keys and scoped tokens, which the Lambda authorizer verifies'],
  ['IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/', '/CloudWatchRole/', 'API Gateway requires it'],
  ['IAM5[Resource::*]', '/FanOutRole/', 'IAM has no resource for listing streams (Service Authorization Reference)'],
  ['IAM5[Resource::*]', '/CountRole/', 'IAM has no resource for listing streams (Service Authorization Reference)'],
  ['IAM5[Resource::*]', '/Egress/Attachment/', 'IAM cannot name network interfaces that do not exist yet'],
  ['IAM5[Resource::<FailedEvents.Arn>/aws/lambda/*]', '/FanOutRole/', 'Lambda names the objects by mapping and time'],
  ['IAM5[Resource::<FailedEvents.Arn>/set-aside/*]', '/FanOutRole/', 'The function names the objects by record'],
  ['IAM5[Resource::arn:<AWS::Partition>:scheduler:', '/Delivery/', 'Schedules have the name of their attempt'],
  ['IAM5[Resource::arn:<AWS::Partition>:ses:', 'Role/', 'A condition fixes the sender'],
  ['S1', '/FailedEvents/', 'Only one function writes to it, so a log would need a second bucket without a use'],
  ['SQS3', '/FailedSchedules/', 'It is the dead-letter queue of schedules'],
  ['VPC3', '/Egress/Acl/', 'A security group cannot deny connections to private addresses'],
  ['VPC7', '/Egress/Vpc/', 'The delivery log contains every connection to an endpoint'],
];

interface Violation {
  ruleName: string;
  violatingConstructs: { constructPath: string }[];
}

/** Returns the rules of cdk-nag and of the CDK that the template with these settings violates, with the paths. */
function findingsWith(settings: SettingsInput): (readonly [rule: string, path: string])[] {
  const app = createApp(appProps(settings));
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  expect(() => app.synth()).toThrow('Acknowledge with');
  const { pluginReports } = JSON.parse(readFileSync(join(app.outdir, 'validation-report.json'), 'utf8'));
  return pluginReports.flatMap(({ violations }: { violations: Violation[] }) =>
    violations.flatMap(({ ruleName, violatingConstructs }) =>
      violatingConstructs.map(({ constructPath }) => [ruleName, constructPath] as const),
    ),
  );
}

it('has only intended findings of cdk-nag, with the default and the other values of each setting', () => {
  const findings = COMBINATIONS.flatMap(findingsWith);
  const matches = ([rule, path]: readonly [string, string], [name, part]: readonly [string, string, string]) =>
    path.includes(part) &&
    (name.includes('[') ? rule.startsWith(`AwsSolutions-${name}`) : rule === `AwsSolutions-${name}`); // S1 is not S10
  expect(findings.filter((found) => !INTENDED.some((each) => matches(found, each)))).toEqual([]);
  expect(INTENDED.filter((each) => !findings.some((found) => matches(found, each)))).toEqual([]);
});
