import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { startStack } from '../../../infra/local/stack.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { databaseEndpoint } from '../../support/database.ts';

const TEMPLATE = 'DocumentSyncService.template.json';

interface RawResource {
  Type: string;
  Properties: Record<string, unknown>;
}

/** Copies the assembly with a changed template. */
function changedAssembly(change: (resources: Record<string, RawResource>) => void): string {
  const assembly = inject('assembly');
  const directory = temporaryDirectory();
  for (const name of readdirSync(assembly))
    if (name !== TEMPLATE) symlinkSync(join(assembly, name), join(directory, name));
  const template = JSON.parse(readFileSync(join(assembly, TEMPLATE), 'utf8'));
  change(template.Resources);
  writeFileSync(join(directory, TEMPLATE), JSON.stringify(template));
  return directory;
}

it('starts a template with alarms, resources, properties and intrinsic functions that the local stack does not know', async () => {
  const added: string[] = [];
  const assembly = changedAssembly((resources) => {
    for (const { Type, Properties } of Object.values(resources)) {
      if (
        !['AWS::Lambda::Function', 'AWS::SQS::Queue', 'AWS::DynamoDB::Table', 'AWS::ApiGateway::Stage'].includes(Type)
      )
        continue;
      Properties.NewProperty = {
        'Fn::If': ['Condition', { 'Fn::FindInMap': ['Map', 'a', 'b'] }, { Ref: 'NewParameter' }],
      };
      added.push(Type);
    }
    resources.NewAlarm = {
      Type: 'AWS::CloudWatch::Alarm',
      Properties: {
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        EvaluationPeriods: 1,
        MetricName: 'ConcurrentExecutions',
        Namespace: 'AWS/Lambda',
        Period: 300,
        Statistic: 'Average',
        Threshold: 1,
      },
    };
    resources.NewResource = { Type: 'AWS::New::Resource', Properties: { Data: { 'Fn::Base64': 'text' } } };
  });
  expect(new Set(added).size).toBe(4);
  const stack = await startStack({ assembly, databaseEndpoint: databaseEndpoint() });
  const { admin_key } = (await stack.invoke('CreateProject', { name: 'A', email: 'a@example.com' })) as {
    admin_key: { key: string };
  };
  const { status } = await fetch(`${stack.baseUrl}/v1/keys`, { headers: { Authorization: `Bearer ${admin_key.key}` } });
  expect(status).toBe(200);
  await stack.stop();
});
