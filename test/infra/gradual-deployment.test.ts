import { describe, expect, it } from 'vitest';
import { everyOption, synth } from './synth.ts';

const template = () => synth(everyOption);
const idsOf = (type: string) => Object.keys(template().findResources(type));
const nameOf = (id: string) => id.replace(/^Gradual/, '').replace(/(Group)?[0-9A-F]{8}$/, '');
const ALIASED = ['Authorize', 'Dashboard', 'Documents', 'Events', 'Keys', 'Project', 'Tokens', 'Webhooks'];

describe('with gradualDeployment=on', () => {
  it('moves the alias of every API function in two steps, and rolls back on server errors', () => {
    const [alarm = ''] = idsOf('AWS::CloudWatch::Alarm').filter((id) => /ServerErrors/.test(id));
    const groups = Object.entries(template().findResources('AWS::CodeDeploy::DeploymentGroup'));
    expect(groups.map(([id]) => nameOf(id)).sort()).toEqual(ALIASED);
    for (const [, { Properties }] of groups) {
      expect(Properties).toMatchObject({
        AlarmConfiguration: { Enabled: true, Alarms: [{ Name: { Ref: alarm } }] },
        AutoRollbackConfiguration: { Enabled: true, Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']) },
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      });
    }
    const aliases = Object.entries(template().findResources('AWS::Lambda::Alias'));
    expect(aliases.map(([id]) => nameOf(id)).sort()).toEqual(ALIASED);
    for (const [, { UpdatePolicy }] of aliases) expect(UpdatePolicy.CodeDeployLambdaAliasUpdate).toBeDefined();
  });

  it('invokes only aliases from the API', () => {
    const aliases = new Set(idsOf('AWS::Lambda::Alias'));
    const uris = [
      ...Object.values(template().findResources('AWS::ApiGateway::Method')).map(
        ({ Properties }) => Properties.Integration.Uri,
      ),
      ...Object.values(template().findResources('AWS::ApiGateway::Authorizer')).map(
        ({ Properties }) => Properties.AuthorizerUri,
      ),
    ].filter((uri) => uri !== undefined);
    const invoked = new Set(
      uris.flatMap((uri) => [...JSON.stringify(uri).matchAll(/"Ref":"(Gradual\w+)"/g)].map(([, id]) => id)),
    );
    expect(invoked).toEqual(aliases);
    const named = Object.keys(synth({}).findResources('AWS::Lambda::Function'));
    for (const uri of uris) for (const id of named) expect(JSON.stringify(uri)).not.toContain(`"${id}"`);
  });
});

it('has no versions and aliases by default', () => {
  for (const type of ['AWS::Lambda::Alias', 'AWS::Lambda::Version', 'AWS::CodeDeploy::DeploymentGroup'])
    synth({}).resourceCountIs(type, 0);
});
