import { Validations } from 'aws-cdk-lib';
import {
  CfnEIP,
  GatewayVpcEndpointAwsService,
  IpAddresses,
  NatProvider,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Effect, Policy, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { FunctionOptions } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

/** Each has a NAT gateway, so that deliveries continue when a zone fails. */
const ZONES = 2;

/** The actions of the AWS managed policy `AWSLambdaVPCAccessExecutionRole`, except those for logs. */
const NETWORK_ACTIONS = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

/**
 * A network whose functions connect to the internet only from fixed IPv4 addresses. It has no IPv6, and nothing can connect to its
 * functions. DynamoDB has a free gateway endpoint. Requests to other AWS services use the NAT gateways, which cost less than an
 * interface endpoint per service up to about 400 GB per month.
 */
export class Egress extends Construct {
  /** The addresses that endpoints see. */
  readonly addresses: string[];
  private readonly vpc: Vpc;
  private readonly securityGroup: SecurityGroup;
  private readonly attachment: Policy;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const reserved = Array.from({ length: ZONES }, (_, i) => new CfnEIP(this, `Address${i + 1}`, { domain: 'vpc' }));
    this.addresses = reserved.map(({ ref }) => ref);
    const eipAllocationIds = reserved.map(({ attrAllocationId }) => attrAllocationId);
    this.vpc = new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr('10.0.0.0/22'),
      maxAzs: ZONES,
      natGatewayProvider: NatProvider.gateway({ eipAllocationIds }),
      subnetConfiguration: [
        { name: 'Nat', subnetType: SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
        { name: 'Functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 24 },
      ],
      gatewayEndpoints: { DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
      restrictDefaultSecurityGroup: false, // nothing uses it, and the CDK would need a function that may change every group
    });
    this.securityGroup = new SecurityGroup(this, 'SecurityGroup', {
      vpc: this.vpc,
      description: 'Functions that deliver events. Nothing connects to them',
      allowAllOutbound: false,
    });
    this.securityGroup.addEgressRule(Peer.anyIpv4(), Port.allTcp(), 'Endpoints on any port, and AWS services');
    this.attachment = attachmentPolicy(this);
    // CloudFormation creates the policy first and removes it last. Without it, Lambda could not delete the network interfaces of
    // functions that left the network, and the group and its subnets would remain (https://github.com/aws/aws-cdk/issues/34400).
    this.securityGroup.node.addDependency(this.attachment);
    Validations.of(this.vpc).acknowledge({
      id: 'AwsSolutions-VPC7',
      reason: 'The delivery log contains every connection to an endpoint',
    });
  }

  /** The options of a function that uses these addresses. It also needs `grantAttach`. */
  get options(): Pick<FunctionOptions, 'vpc' | 'securityGroups'> {
    return { vpc: this.vpc, securityGroups: [this.securityGroup] };
  }

  /** Allows Lambda to attach functions with this role to the network. */
  grantAttach(role: Role): void {
    role.attachInlinePolicy(this.attachment);
  }
}

/**
 * Allows Lambda to attach functions to the network, and denies the same to the code of the functions (Lambda Developer Guide,
 * "Giving Lambda functions access to resources in an Amazon VPC").
 */
function attachmentPolicy(scope: Construct): Policy {
  const actions = NETWORK_ACTIONS;
  const isFunction = { Null: { 'lambda:SourceFunctionArn': 'false' } };
  const policy = new Policy(scope, 'Attachment', {
    statements: [
      new PolicyStatement({ actions, resources: ['*'] }),
      new PolicyStatement({ effect: Effect.DENY, actions, resources: ['*'], conditions: isFunction }),
    ],
  });
  Validations.of(policy).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'IAM cannot name network interfaces that do not exist yet, and describing them has no resource',
  });
  return policy;
}
