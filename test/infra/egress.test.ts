import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { idIn, resourcesOf, type Statement } from './resources.ts';
import { everyOption, network, synth, table } from './synth.ts';

const template = synth(everyOption);
const idsOf = (type: string) => resourcesOf(template, type).map(([id]) => id);
const propertiesOf = (type: string) => resourcesOf(template, type).map(([, properties]) => properties);
const inNetwork = (found: Template) =>
  resourcesOf(found, 'AWS::Lambda::Function').filter(([, { VpcConfig }]) => VpcConfig !== undefined);
const attachments = resourcesOf(template, 'AWS::IAM::Policy').filter(([id]) => id.startsWith('EgressAttachment'));

describe.each([
  ['a new network', template],
  ['an existing network', synth({ egress: network })],
])('%s', (_, found) => {
  it('contains only the deliver functions, in two subnets', () => {
    const inside = inNetwork(found);
    expect(inside.map(([id]) => id.replace(/[0-9A-F]{8}$/, '')).sort()).toEqual([
      'DeliveryDeliver',
      'DeliveryDeliverNew',
      'DeliveryDeliverSlow',
    ]);
    for (const [, { VpcConfig }] of inside) expect(VpcConfig.SubnetIds).toHaveLength(2);
  });

  it('accepts no connections', () => {
    found.hasResourceProperties('AWS::EC2::SecurityGroup', {
      SecurityGroupIngress: Match.absent(),
      SecurityGroupEgress: [Match.objectLike({ CidrIp: '0.0.0.0/0', IpProtocol: 'tcp' })],
    });
    found.resourceCountIs('AWS::EC2::SecurityGroup', 1);
  });
});

describe('the network of nat', () => {
  it('has no connections to private addresses', () => {
    const entries = propertiesOf('AWS::EC2::NetworkAclEntry')
      .filter(({ Egress }) => Egress)
      .sort((a, b) => a.RuleNumber - b.RuleNumber)
      .map(({ CidrBlock, RuleAction, Protocol }) => `${RuleAction} ${CidrBlock} ${Protocol}`);
    const denied = ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];
    expect(entries).toEqual([...denied.map((range) => `deny ${range} -1`), 'allow 0.0.0.0/0 -1']);
    const guarded = propertiesOf('AWS::EC2::SubnetNetworkAclAssociation').map(({ SubnetId }) => SubnetId);
    for (const [, { VpcConfig }] of inNetwork(template))
      expect(guarded).toEqual(expect.arrayContaining(VpcConfig.SubnetIds));
  });

  it.each([
    ['of the stack', {}, { 'Fn::GetAtt': ['Table', 'Arn'] }],
    ['that exists', { table }, Match.objectLike({ 'Fn::Join': ['', Match.arrayWith([`:table/${table.name}`])] })],
  ])('reaches DynamoDB without a NAT gateway, and only the table %s', (_, more, arn) => {
    synth({ ...everyOption, ...more }).hasResourceProperties('AWS::EC2::VPCEndpoint', {
      VpcEndpointType: 'Gateway',
      PolicyDocument: { Statement: [Match.objectLike({ Resource: [arn, { 'Fn::Join': Match.anyValue() }] })] },
    });
  });
});

describe('an existing network', () => {
  it('is not changed', () => {
    const existing = synth({ egress: network });
    for (const [, { VpcConfig }] of inNetwork(existing)) expect(VpcConfig.SubnetIds).toEqual(network.subnetIds);
    expect(JSON.stringify(existing.toJSON()).match(/AWS::EC2::\w+/g)).toEqual(['AWS::EC2::SecurityGroup']);
    existing.hasResourceProperties('AWS::EC2::SecurityGroup', { VpcId: network.vpcId });
    existing.hasOutput('SourceAddresses', { Value: '192.0.2.1' });
  });
});

describe('with egress=nat', () => {
  it('has a NAT gateway with a reserved address in each of two zones', () => {
    const addresses = idsOf('AWS::EC2::EIP');
    const gateways = propertiesOf('AWS::EC2::NatGateway');
    expect(gateways.map(({ AllocationId }) => idIn(AllocationId)).sort()).toEqual(addresses.sort());
    expect(addresses).toHaveLength(2);
    const used = propertiesOf('AWS::EC2::Route').flatMap(({ NatGatewayId }) => NatGatewayId?.Ref ?? []);
    expect(used.sort()).toEqual(idsOf('AWS::EC2::NatGateway').sort());
  });

  it('shows the addresses in an output and to the function that returns the project', () => {
    const [first, second] = idsOf('AWS::EC2::EIP');
    const joined = { 'Fn::Join': ['', [{ Ref: first }, ',', { Ref: second }]] };
    template.hasOutput('SourceAddresses', { Value: joined });
    const variables = { Environment: { Variables: Match.objectLike({ SOURCE_ADDRESSES: joined }) } };
    template.resourcePropertiesCountIs('AWS::Lambda::Function', variables, 1);
  });

  it('lets Lambda attach the functions, and not the code of the functions', () => {
    const [[, { Roles, PolicyDocument } = {}] = []] = attachments;
    const roles = inNetwork(template).map(([, { Role }]) => idIn(Role));
    expect(Roles.map(idIn).sort()).toEqual(roles.sort());
    expect(PolicyDocument.Statement.map(({ Effect, Condition }: Statement) => [Effect, Condition])).toEqual([
      ['Allow', undefined],
      ['Deny', { Null: { 'lambda:SourceFunctionArn': 'false' } }],
    ]);
  });

  it('keeps that permission until Lambda has removed the functions from the network', () => {
    const [[id = ''] = []] = attachments;
    const [group] = Object.values(template.findResources('AWS::EC2::SecurityGroup'));
    expect([group?.DependsOn].flat()).toContain(id);
    const { [id]: _, ...others } = template.findResources('AWS::IAM::Policy');
    expect(others).toEqual(synth({ ...everyOption, egress: undefined }).findResources('AWS::IAM::Policy'));
  });
});

describe('by default', () => {
  it('has no network and no fixed addresses', () => {
    expect(JSON.stringify(synth({}).toJSON())).not.toMatch(/AWS::EC2::|SOURCE_ADDRESSES|SourceAddresses|ec2:/);
  });
});
