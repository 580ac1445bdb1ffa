import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { TABLE } from '../support/dynamodb-table.ts';
import { actionsOf, mappingsOf, resourcesOf, type Statement } from './resources.ts';
import { everyOption, extremes, network, synth, synthStack, table } from './synth.ts';

const template = synth({});

describe('the template', () => {
  it('limits the concurrency of every queue to the lowest setting, and bursts to the quota of an account', () => {
    const limited = { ScalingConfig: { MaximumConcurrency: 2 } };
    const changed = synth(extremes);
    changed.resourcePropertiesCountIs('AWS::Lambda::EventSourceMapping', limited, 5); // three lanes, checks and summaries
    changed.hasResourceProperties('AWS::ApiGateway::UsagePlan', { Throttle: { RateLimit: 2501, BurstLimit: 5000 } });
    const all = { HttpMethod: '*', ThrottlingRateLimit: 10_000, ThrottlingBurstLimit: 5000 };
    const MethodSettings = Match.arrayWith([Match.objectLike(all)]);
    changed.hasResourceProperties('AWS::ApiGateway::Stage', { MethodSettings });
  });

  it('gathers the batches of the fan-out and two lanes as long as the setting says, and slow ones for a second', () => {
    const windows = mappingsOf(synth(extremes)).map(({ id, mapping }) => [id, mapping.MaximumBatchingWindowInSeconds]);
    const expected = { FanOutSource: 5, DeliverSource: 5, DeliverNewSource: 5, DeliverSlowSource: 1 };
    expect(Object.fromEntries(windows)).toMatchObject(expected);
  });

  it('delivers from the one subnet of an existing network, and shows no addresses if it has none', () => {
    const functions = resourcesOf(synth(extremes), 'AWS::Lambda::Function');
    const subnets = functions.flatMap(([, { VpcConfig }]) => VpcConfig?.SubnetIds ?? []);
    expect(subnets).toEqual(Array(3).fill(network.subnetIds[2]));
    expect(JSON.stringify(synth(extremes).toJSON())).not.toMatch(/SOURCE_ADDRESSES|SourceAddresses/);
  });

  it('has a table with the keys and indexes of the tests', () => {
    template.hasResourceProperties('AWS::DynamoDB::Table', TABLE);
  });

  it('leaves half of the concurrency of an account to the API', () => {
    const queues = mappingsOf(template).filter(({ isStream }) => !isStream);
    const limits = queues.map(({ mapping }) => mapping.ScalingConfig?.MaximumConcurrency ?? 1000);
    expect(limits.reduce((sum, limit) => sum + limit)).toBeLessThanOrEqual(500); // of 1,000 (Lambda quotas)
  });

  it('sends emails only from the sender, with any identity of the account and its configuration set', () => {
    const sending = resourcesOf(template, 'AWS::IAM::Policy').flatMap(([, { PolicyDocument }]) =>
      PolicyDocument.Statement.filter((one: Statement) => actionsOf(one).includes('ses:SendEmail')),
    );
    const [[Ref] = []] = resourcesOf(template, 'AWS::SES::ConfigurationSet');
    expect(sending.length).toBeGreaterThan(0);
    for (const { Condition, Resource } of sending) {
      expect(Condition).toEqual({ StringEquals: { 'ses:FromAddress': 'notifications@example.com' } });
      expect(Resource).toEqual([
        { 'Fn::Join': ['', expect.arrayContaining([':configuration-set/', { Ref }])] },
        { 'Fn::Join': ['', expect.arrayContaining([expect.stringMatching(/identity\/\*$/)])] },
      ]);
    }
  });

  it('has termination protection with an existing table too', () => {
    expect(synthStack({ ...everyOption, table, dataRetention: 'retain' }).terminationProtection).toBe(true);
  });

  it('refers nowhere to its own table if it has an existing one', () => {
    const existing = synth({ table });
    existing.resourceCountIs('AWS::DynamoDB::Table', 0);
    const text = JSON.stringify(existing.toJSON());
    expect(text).not.toContain('{"Ref":"Table"}');
    expect(text).not.toContain('["Table","');
  });
});
