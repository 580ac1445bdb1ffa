import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { DocumentSync, type DocumentSyncProps } from '../../infra/document-sync.ts';
import { resourcesOf } from './resources.ts';
import { appProps, unvalidated } from './synth.ts';

const createApp = () => new App(appProps());

const PROPS: DocumentSyncProps = { encryption: 'customer', logRetentionDays: 7 };

describe('the construct', () => {
  it('can be used in several stacks of an app, each with its own name', () => {
    const app = createApp();
    const stacks = ['Europe', 'Partners'].map((id) => new Stack(app, id));
    for (const stack of stacks) new DocumentSync(stack, 'Sync', PROPS);
    const assembly = unvalidated(() => app.synth());
    const [europe, partners] = stacks.map((stack) => assembly.getStackArtifact(stack.artifactId).template);
    const named = [europe, partners].map((template) => {
      const functions = resourcesOf(Template.fromJSON(template), 'AWS::Lambda::Function');
      const variables = functions.map(([, { Environment }]) => Environment.Variables);
      return {
        namespaces: [...new Set(variables.map(({ POWERTOOLS_METRICS_NAMESPACE: name }) => name))],
        share: variables.flatMap(({ SHARE_PREFIX = [] }) => SHARE_PREFIX)[0],
      };
    });
    expect(named.map(({ namespaces }) => namespaces)).toEqual([['Europe'], ['Partners']]);
    expect(named[0]?.share).not.toEqual(named[1]?.share);
  });

  it('pins its resources with data in a stack of another app too, and changes no resource of that app', () => {
    const app = createApp();
    const stack = new Stack(app, 'Mine');
    new LogGroup(stack, 'Log', { retention: 30 });
    new Queue(stack, 'Queue');
    const { table } = new DocumentSync(stack, 'Sync', PROPS);
    expect(stack.resolve(table.name)).toEqual({ Ref: 'Table' });
    const template = Template.fromJSON(unvalidated(() => app.synth()).getStackArtifact('Mine').template);
    template.hasResourceProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
    template.hasResourceProperties('AWS::SQS::Queue', { KmsMasterKeyId: Match.absent() });
  });

  it('rejects a property with a value that is not allowed', () => {
    const create = () => new DocumentSync(new Stack(createApp(), 'Mine'), 'Sync', { deliverConcurrency: 1 });
    expect(create).toThrow('deliverConcurrency must be an integer from 2 to 1000');
  });
});
