import { describe, expect, it } from 'vitest';
import { encryptedBy } from './promises.ts';
import { resourcesOf } from './resources.ts';
import { domain, network, synth } from './synth.ts';

/** The types of resources with contents of customers. */
const STORES = ['AWS::DynamoDB::Table', 'AWS::SQS::Queue', 'AWS::S3::Bucket', 'AWS::SNS::Topic', 'AWS::Logs::LogGroup'];

describe('a setting holds for every resource', () => {
  it('encryption: every table, queue, bucket, topic and log group has the key of the customer', () => {
    const template = synth({ encryption: 'customer', alarms: { email: 'alarms@example.com' } });
    const ids = STORES.flatMap((type) => {
      const found = resourcesOf(template, type).map(([id]) => id);
      expect(found, type).not.toEqual([]);
      return found;
    });
    const encrypted = encryptedBy(template);
    expect(ids.filter((id) => !encrypted.has(id))).toEqual([]);
  });

  it('domain: every API is reachable only by its domain', () => {
    const apis = resourcesOf(synth({ domain }), 'AWS::ApiGateway::RestApi');
    expect(apis).toHaveLength(1);
    for (const [id, api] of apis) expect(api.DisableExecuteApiEndpoint, id).toBe(true);
  });

  it.each([
    { egress: 'nat' as const },
    { egress: network },
  ])('egress: every function that delivers runs in the VPC: %j', (settings) => {
    const functions = resourcesOf(synth(settings), 'AWS::Lambda::Function');
    const delivering = functions.filter(([, { Environment }]) => Environment.Variables.LANE !== undefined);
    expect(delivering).toHaveLength(3);
    for (const [id, { VpcConfig }] of delivering) expect(VpcConfig?.SubnetIds?.length, id).toBeGreaterThan(0);
  });
});
