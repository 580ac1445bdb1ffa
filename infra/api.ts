import { CfnResource, Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { allOperations } from '../lib/api/operations.ts';
import { addMethods } from './api-methods.ts';
import type { Functions } from './functions.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { pinLogicalId } from './logical-ids.ts';
import type { Settings } from './settings.ts';
import { burstOf, ProjectShares, publicThrottles } from './throttles.ts';

const STAGE = 'live';

/** TLS 1.3 only (API Gateway security policies). */
const SECURITY_POLICY = apigateway.SecurityPolicy.TLS13_1_3_2025_09;

/** Callers can use IPv4 or IPv6, as allowlists can contain both. */
const ADDRESSES = apigateway.IpAddressType.DUAL_STACK;

export interface ApiProps {
  settings: Settings;
  functions: Functions;
}

/** The REST API: one method for every operation of lib/api/operations.ts, behind the authorizer unless anyone may call it. */
export class Api extends Construct {
  readonly restApi: apigateway.RestApi;
  readonly accessLog: LogGroup;
  /** The base URL without a trailing slash. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The target for a DNS record of the custom domain. */
  readonly domainTarget: string | undefined;

  constructor(scope: Construct, id: string, { settings, functions }: ApiProps) {
    super(scope, id);
    const { domain, webAclArn, throttles } = settings;
    this.accessLog = new LogGroup(this, 'AccessLog', { removalPolicy: RemovalPolicy.DESTROY });
    pinLogicalId(this.accessLog, 'AccessLog');
    this.restApi = this.createRestApi(settings);
    // Without a cache, so that revocations and allowlists take effect on the next request.
    const authorizer = new apigateway.RequestAuthorizer(this, 'Authorizer', {
      handler: functions.authorizer,
      resultsCacheTtl: Duration.seconds(0),
      identitySources: [apigateway.IdentitySource.header('Authorization')],
    });
    addMethods(this.restApi.root, authorizer, functions);
    new ProjectShares(this, 'Shares', { restApi: this.restApi, perSecond: throttles.projectPerSecond });
    const { region, urlSuffix } = Stack.of(this);
    const { restApiId } = this.restApi;
    this.baseUrl = `https://${domain?.name ?? `${restApiId}.execute-api.${region}.${urlSuffix}/${STAGE}`}`;
    for (const name of new Set(allOperations.map((operation) => operation.function)))
      functions[name].addEnvironment('BASE_URL', this.baseUrl);
    addGatewayResponses(this, this.restApi, this.baseUrl);
    createGradually(this);
    this.domainTarget = domain && addDomain(this, this.restApi, domain);
    if (webAclArn) {
      const { stageArn } = this.restApi.deploymentStage;
      new CfnWebACLAssociation(this, 'WebAcl', { resourceArn: stageArn, webAclArn });
    }
    this.dashboardUrl = `${this.baseUrl}/dashboard`;
  }

  private createRestApi({ domain, cloudWatchRole, throttles: { methodPerSecond } }: Settings): apigateway.RestApi {
    const restApi = new apigateway.RestApi(this, 'RestApi', {
      restApiName: Stack.of(this).stackName, // alarms refer to an API by its name
      endpointConfiguration: { types: [apigateway.EndpointType.REGIONAL], ipAddressType: ADDRESSES },
      apiKeySourceType: apigateway.ApiKeySourceType.AUTHORIZER,
      disableExecuteApiEndpoint: domain !== undefined,
      cloudWatchRole: cloudWatchRole === 'create',
      // Browsers do not attach credentials automatically, so compression reveals nothing to an attacker (BREACH).
      minCompressionSize: Size.bytes(1024),
      // As binary, because API Gateway would otherwise replace bytes that are not UTF-8 before a function can reject them.
      binaryMediaTypes: ['application/json'],
      // Without tracing, because a trace contains the path, and a path can contain a key.
      deployOptions: {
        stageName: STAGE,
        throttlingRateLimit: methodPerSecond,
        throttlingBurstLimit: burstOf(methodPerSecond),
        methodOptions: publicThrottles(),
        accessLogDestination: new apigateway.LogGroupLogDestination(this.accessLog),
        accessLogFormat: ACCESS_LOG,
      },
    });
    restApi.node.tryRemoveChild('Endpoint'); // the stack has its own output
    pinLogicalId(restApi, 'Api');
    pinLogicalId(restApi.deploymentStage, 'Stage');
    // RestApi ignores both properties. They require TLS 1.3, also on the default endpoint (API Gateway security policies).
    const cfn = restApi.node.defaultChild as apigateway.CfnRestApi;
    cfn.addPropertyOverride('SecurityPolicy', SECURITY_POLICY);
    cfn.addPropertyOverride('EndpointAccessMode', apigateway.EndpointAccessMode.STRICT);
    return restApi;
  }
}

/** Adds a custom domain for the API with the same TLS policy, and returns the target for its DNS record. */
function addDomain(
  scope: Construct,
  restApi: apigateway.RestApi,
  { name, certificateArn }: NonNullable<Settings['domain']>,
) {
  const domain = new apigateway.DomainName(scope, 'Domain', {
    domainName: name,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    endpointType: apigateway.EndpointType.REGIONAL,
    securityPolicy: SECURITY_POLICY,
    endpointAccessMode: apigateway.EndpointAccessMode.STRICT,
  });
  pinLogicalId(domain, 'Domain');
  // DomainName has no property for it.
  const cfn = domain.node.defaultChild as apigateway.CfnDomainName;
  cfn.addPropertyOverride('EndpointConfiguration.IpAddressType', ADDRESSES);
  pinLogicalId(domain.addBasePathMapping(restApi), 'BasePath');
  return domain.domainNameAliasDomainName;
}

// The log contains the path of the resource, because the path of the request can contain a key.
const ACCESS_LOG = apigateway.AccessLogFormat.custom(
  JSON.stringify({
    request_id: apigateway.AccessLogField.contextRequestId(),
    at: apigateway.AccessLogField.contextRequestTimeEpoch(),
    ip: apigateway.AccessLogField.contextIdentitySourceIp(),
    method: apigateway.AccessLogField.contextHttpMethod(),
    resource: apigateway.AccessLogField.contextResourcePath(),
    status: apigateway.AccessLogField.contextStatus(),
    principal: apigateway.AccessLogField.contextAuthorizerPrincipalId(),
    // Includes the time of the authorizer. Requests that reach no function have it too.
    latency_ms: apigateway.AccessLogField.contextResponseLatency(),
    error: apigateway.AccessLogField.contextErrorResponseType(),
    authorizer_error: '$context.authorizer.error',
    integration_error: '$context.integrationErrorMessage',
    tls_version: '$context.tlsVersion',
  }),
);

/** The parts that CloudFormation creates at the same time. Each takes seconds and some requests. */
const AT_A_TIME = 5;

/** Each type depends only on itself and on earlier ones. */
const TYPES = ['GatewayResponse', 'Resource', 'Method'].map((name) => `AWS::ApiGateway::${name}`);

/**
 * Limits how many parts of an API CloudFormation creates or deletes at the same time. Otherwise it starts all methods as soon as their
 * functions exist. An account can make ten such requests per second with a burst of 40, and five for new resources (API Gateway
 * quotas). A deployment can fail if API Gateway throttles more of them (https://github.com/aws/aws-cdk/issues/15573).
 */
function createGradually(api: Construct): void {
  const parts = api.node.findAll().filter((part) => CfnResource.isCfnResource(part));
  const ordered = TYPES.flatMap((type) => parts.filter(({ cfnResourceType }) => cfnResourceType === type));
  ordered.forEach((part, i) => {
    const earlier = ordered[i - AT_A_TIME];
    if (earlier) part.addResourceDependency(earlier);
  });
}
