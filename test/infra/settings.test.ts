import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import { type SettingsInput, settingsOf } from '../../infra/settings.ts';
import { choices, domain, everyOption, network, synthStack, table } from './synth.ts';

describe('the settings', () => {
  it('have tests of a value other than the default', () => {
    const tested = Object.values(choices).flatMap((options) => options.flatMap((each) => Object.keys(each)));
    expect([...new Set(tested)].sort()).toEqual(Object.keys(settingsOf({ ...everyOption, table })).sort());
  });

  it.each([
    [{ senderEmail: 'nobody' }, 'senderEmail must be an email address'],
    [{ deliverConcurrency: 0.5 }, /:\n {2}deliverConcurrency must be an integer from 2 to 1000$/],
    [{ deliverConcurrency: '50' }, 'deliverConcurrency must be an integer from 2 to 1000'],
    [{ batchingSeconds: 1.5 }, 'batchingSeconds must be an integer from 0 to 5'],
    [{ throttles: { methodPerSecond: 0 } }, 'throttles.methodPerSecond must be an integer from 1 to 10000'],
    [{ throttles: { deliveriesPerSecond: 0 } }, 'throttles.deliveriesPerSecond must be an integer from 1 to 100000'],
    [{ throttles: { rate: 5 } }, 'throttles.rate is not a setting'],
    [{ throttleRate: 5 }, 'throttleRate is not a setting'],
    [{ logRetentionDays: 31 }, 'logRetentionDays must be one of 1, 3, 5'],
    [{ domain: { name: 'api.example.com' } }, 'domain.certificateArn is missing'],
    [{ domain: { ...domain, certificateArn: 'abc-1' } }, 'domain.certificateArn must be the ARN of an ACM certificate'],
    [{ domain: { ...domain, name: 'API' } }, 'domain.name must be a domain name in lower case'],
    [{ table: { name: table.name } }, 'table.streamArn is missing'],
    [{ table: { ...table, name: 'a b' } }, /\n {2}table\.name must be the name of a table$/],
    [{ table: { ...table, streamArn: table.name } }, 'table.streamArn must be the ARN of a stream of a table'],
    [{ table: { ...table, name: 'Other' } }, 'table must have the name and the stream of the same table'],
    [{ stackName: '1st' }, 'stackName must be up to 128 letters'],
    [{ dataRetention: 'keep' }, 'dataRetention must be retain or destroy'],
    [{ cloudWatchRole: 'new' }, 'cloudWatchRole must be create or existing'],
    [{ securityContact: 'a@example.com' }, 'securityContact must be a mailto: or https: URL'],
    [{ encryption: true }, 'encryption must be aws or customer'],
    [{ egress: 'vpc' }, 'egress must be "nat" or {"vpcId"'],
    [{ egress: { ...network, subnetIds: [] } }, 'egress.subnetIds must have at least one subnet'],
    [{ egress: { ...network, vpcId: 'vpc' } }, 'egress.vpcId must be the id of a VPC'],
    [{ egress: { ...network, subnetIds: ['a'] } }, 'egress.subnetIds.0 must be the id of a subnet'],
    [{ egress: { ...network, sourceAddresses: ['192.0.2.0/24'] } }, 'egress.sourceAddresses.0 must be an IPv4 address'],
    [{ alarms: {} }, 'alarms must be {"email"'],
    [{ alarms: { topicArn: 'ops' } }, 'alarms.topicArn must be the ARN of an SNS topic'],
    [{ alarms: { email: 'ops' } }, 'alarms.email must be an email address'],
    [
      { webAclArn: 'arn:aws:wafv2:us-east-1:111122223333:global/webacl/a/1' },
      'webAclArn must be the ARN of a regional',
    ],
  ])('reject %o', (settings, message) => {
    expect(() => settingsOf(settings)).toThrow(message);
  });

  it.each<SettingsInput>([
    { stackName: `A${'b-1'.repeat(42)}c` },
    { senderEmail: "o'hara+news@mail.example.co.uk", securityContact: 'https://example.com/?form=1' },
    { alarms: { topicArn: 'arn:aws-us-gov:sns:us-gov-west-1:111122223333:ops_1-pager' } },
    {
      domain: { name: 'a-1.b.xn--p1ai', certificateArn: 'arn:aws-cn:acm:cn-north-1:111122223333:certificate/0c1d-2e' },
    },
    {
      table: {
        name: 'A.b_c-1',
        streamArn: 'arn:aws-cn:dynamodb:cn-north-1:111122223333:table/A.b_c-1/stream/2026-01-31T12:00:00.000',
      },
    },
    {
      egress: {
        vpcId: 'vpc-01234567',
        subnetIds: ['subnet-01234567'],
        sourceAddresses: ['203.0.113.255', '192.0.2.0'],
      },
    },
    { webAclArn: 'arn:aws-us-gov:wafv2:us-gov-west-1:111122223333:regional/webacl/acl_1-a/0c1d-2e' },
    { deliverConcurrency: 1000, batchingSeconds: 0, throttles: { methodPerSecond: 1, projectPerSecond: 10_000 } },
  ])('accept unusual values and limits: %o', (settings) => {
    expect(settingsOf(settings)).toMatchObject(settings);
  });

  it('accept the retention periods of CloudWatch', () => {
    const periods = Object.values(RetentionDays).filter((days) => typeof days === 'number');
    for (const logRetentionDays of periods.filter((days) => days !== RetentionDays.INFINITE))
      expect(settingsOf({ logRetentionDays }).logRetentionDays).toBe(logRetentionDays);
  });
});

it.each<[SettingsInput, unknown[]]>([
  [{}, [expect.stringContaining('run npm run init')]],
  [{ senderEmail: 'a@example.com' }, []],
  [everyOption, []],
])('a synthesis with %o warns only about a missing sender', (settings, expected) => {
  const { messages } = synthStack(settings);
  const warnings = messages.filter(({ level }) => level !== 'info').map(({ entry }) => String(entry.data));
  expect(warnings).toEqual(expected);
});
