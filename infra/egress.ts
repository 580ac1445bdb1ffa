import { Fn } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, Effect, Policy, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { FunctionOptions } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Settings } from './settings.ts';

/** Each has a NAT gateway, so that deliveries continue when a zone fails. */
const ZONES = 2;

/** Addresses that no endpoint on the internet has: private and shared networks, and local links (RFC 6890). */
const PRIVATE = ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];

/** The actions of the AWS managed policy `AWSLambdaVPCAccessExecutionRole`, except those for logs. */
const NETWORK_ACTIONS = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

/** The network of functions that connect to the internet only from fixed IPv4 addresses. Nothing can connect to them. */
export class Egress extends Construct {
  /** The addresses that endpoints see. */
  readonly addresses: string[];
  /** The options of a function that uses these addresses. It also needs `grantAttach`. */
  readonly options: Pick<FunctionOptions, 'vpc' | 'securityGroups'>;
  private readonly attachment: Policy;

  constructor(scope: Construct, id: string, network: NonNullable<Settings['egress']>, tableArn: string) {
    super(scope, id);
    const { addresses, vpc } = network === 'nat' ? this.createNetwork(tableArn) : this.existing(network);
    this.addresses = addresses;
    const securityGroup = new ec2.SecurityGroup(this, 'SecurityGroup', {
      vpc,
      description: 'Functions that deliver events. Nothing connects to them',
      allowAllOutbound: false,
    });
    securityGroup.addEgressRule(ec2.Peer.anyIpv4(), ec2.Port.allTcp(), 'Endpoints on any port, and AWS services');
    this.options = { vpc, securityGroups: [securityGroup] };
    // Allows Lambda to attach functions to the network, and denies the same to the code of the functions (Lambda Developer Guide,
    // "Giving Lambda functions access to resources in an Amazon VPC").
    const subject = { actions: NETWORK_ACTIONS, resources: ['*'] };
    const conditions = { Null: { 'lambda:SourceFunctionArn': 'false' } };
    this.attachment = new Policy(this, 'Attachment', {
      statements: [new PolicyStatement(subject), new PolicyStatement({ effect: Effect.DENY, ...subject, conditions })],
    });
    // CloudFormation creates the policy first and removes it last. Without it, Lambda could not delete the network interfaces of
    // functions that left the network, and the group and its subnets would remain (https://github.com/aws/aws-cdk/issues/34400).
    securityGroup.node.addDependency(this.attachment);
  }

  /** Allows Lambda to attach functions with this role to the network. */
  grantAttach(role: Role): void {
    role.attachInlinePolicy(this.attachment);
  }

  /** The operator is responsible for its routes and network ACLs. */
  private existing({ vpcId, subnetIds, sourceAddresses }: Exclude<NonNullable<Settings['egress']>, 'nat'>) {
    const availabilityZones = subnetIds.map((_, i) => Fn.select(i, Fn.getAzs())); // required, but not used
    const attributes = { vpcId, availabilityZones, privateSubnetIds: subnetIds };
    return { addresses: sourceAddresses, vpc: ec2.Vpc.fromVpcAttributes(this, 'Vpc', attributes) };
  }

  /**
   * A VPC without IPv6. DynamoDB has a free gateway endpoint, for the table only. Requests to other AWS services use the NAT
   * gateways, which cost less than an interface endpoint per service up to about 400 GB per month.
   */
  private createNetwork(tableArn: string) {
    const ids = Array.from({ length: ZONES }, (_, i) => `Address${i + 1}`);
    const eips = ids.map((id) => new ec2.CfnEIP(this, id, { domain: 'vpc' }));
    const eipAllocationIds = eips.map(({ attrAllocationId }) => attrAllocationId);
    const vpc = new ec2.Vpc(this, 'Vpc', {
      ipAddresses: ec2.IpAddresses.cidr('10.0.0.0/22'),
      maxAzs: ZONES,
      natGatewayProvider: ec2.NatProvider.gateway({ eipAllocationIds }),
      subnetConfiguration: [
        { name: 'Nat', subnetType: ec2.SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
        { name: 'Functions', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 24 },
      ],
      restrictDefaultSecurityGroup: false, // nothing uses it, and the CDK would need a function that may change every group
    });
    const endpoint = vpc.addGatewayEndpoint('DynamoDb', { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB });
    const resources = [tableArn, `${tableArn}/*`];
    endpoint.addToPolicy(new PolicyStatement({ principals: [new AnyPrincipal()], actions: ['dynamodb:*'], resources }));
    // ACLs do not filter requests to the DNS server of the VPC (VPC User Guide, "Network ACL basics").
    const acl = new ec2.NetworkAcl(this, 'Acl', { vpc, subnetSelection: { subnetGroupName: 'Functions' } });
    const add = (ruleNumber: number, cidr: ec2.AclCidr, direction: ec2.TrafficDirection, ruleAction: ec2.Action) =>
      acl.addEntry(`Rule${ruleNumber}`, {
        ruleNumber,
        cidr,
        direction,
        ruleAction,
        traffic: ec2.AclTraffic.allTraffic(),
      });
    const { EGRESS, INGRESS } = ec2.TrafficDirection;
    for (const [i, range] of PRIVATE.entries()) add(i + 1, ec2.AclCidr.ipv4(range), EGRESS, ec2.Action.DENY);
    add(100, ec2.AclCidr.anyIpv4(), EGRESS, ec2.Action.ALLOW);
    add(101, ec2.AclCidr.anyIpv4(), INGRESS, ec2.Action.ALLOW); // responses, because the security group accepts nothing else
    return { addresses: eips.map(({ ref }) => ref), vpc };
  }
}
