import { Duration, RemovalPolicy, Size, Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiKeySourceType,
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  IdentitySource,
  LogGroupLogDestination,
  RequestAuthorizer,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { ApiFunction } from '../lib/http/operation.ts';
import { createGradually } from './api-creation.ts';
import { addMethods } from './api-methods.ts';
import { addDomain, SECURITY_POLICY } from './domain.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { pinLogicalId } from './logical-ids.ts';
import type { Settings } from './settings.ts';
import { burstOf, ProjectShares, publicThrottles } from './throttles.ts';

const STAGE = 'live';

export interface ApiProps {
  settings: Settings;
  authorizer: IFunction;
  functions: Record<ApiFunction, IFunction>;
}

/** The REST API: one method for every operation of lib/http/operations.ts, behind the authorizer unless anyone may call it. */
export class Api extends Construct {
  readonly restApi: RestApi;
  readonly accessLog: LogGroup;
  /** The base URL without a trailing slash. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The target for a CNAME record of the custom domain, if the service does not create a record. */
  readonly domainTarget: string | undefined;

  constructor(scope: Construct, id: string, { settings, authorizer, functions }: ApiProps) {
    super(scope, id);
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention: settings.logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    pinLogicalId(this.accessLog, 'AccessLog');
    this.restApi = this.createRestApi(settings);
    const requestAuthorizer = this.createAuthorizer(authorizer, settings);
    addMethods(this.restApi.root, requestAuthorizer, functions);
    new ProjectShares(this, 'Shares', { restApi: this.restApi, settings });
    acknowledgeRules(this.restApi);
    this.baseUrl = `https://${settings.domainName || this.defaultHost()}`;
    addGatewayResponses(this, this.restApi, this.baseUrl);
    createGradually(this);
    this.domainTarget = addDomain(this, this.restApi, settings);
    this.dashboardUrl = `${this.baseUrl}/dashboard`;
  }

  private defaultHost(): string {
    const { region, urlSuffix } = Stack.of(this);
    return `${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${STAGE}`;
  }

  private createRestApi({ stackName, domainName, cloudWatchRole, throttleRate }: Settings): RestApi {
    const restApi = new RestApi(this, 'RestApi', {
      restApiName: stackName, // alarms refer to an API by its name
      endpointTypes: [EndpointType.REGIONAL],
      apiKeySourceType: ApiKeySourceType.AUTHORIZER,
      disableExecuteApiEndpoint: domainName !== '',
      cloudWatchRole: cloudWatchRole === 'create',
      // Browsers do not attach credentials automatically, so compression reveals nothing to an attacker (BREACH).
      minCompressionSize: Size.bytes(1024),
      // As binary, because API Gateway would otherwise replace bytes that are not UTF-8 before a function can reject them.
      binaryMediaTypes: ['application/json'],
      // Without tracing, because a trace contains the path, and a path can contain a key.
      deployOptions: {
        stageName: STAGE,
        throttlingRateLimit: throttleRate,
        throttlingBurstLimit: burstOf(throttleRate),
        methodOptions: publicThrottles(),
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: ACCESS_LOG,
      },
    });
    restApi.node.tryRemoveChild('Endpoint'); // the stack has its own output
    pinLogicalId(restApi, 'Api');
    pinLogicalId(restApi.deploymentStage, 'Stage');
    // RestApi ignores both properties. They require TLS 1.3, also on the default endpoint (API Gateway security policies).
    const cfn = restApi.node.defaultChild as CfnRestApi;
    cfn.addPropertyOverride('SecurityPolicy', SECURITY_POLICY);
    cfn.addPropertyOverride('EndpointAccessMode', EndpointAccessMode.STRICT);
    return restApi;
  }

  private createAuthorizer(handler: IFunction, { authorizerCacheSeconds }: Settings): RequestAuthorizer {
    const cached = authorizerCacheSeconds > 0;
    return new RequestAuthorizer(this, 'Authorizer', {
      handler,
      resultsCacheTtl: Duration.seconds(authorizerCacheSeconds),
      // A cached decision applies to one credential, address and operation. `sam local` supports only headers as identity
      // sources.
      identitySources: [
        IdentitySource.header('Authorization'),
        ...(cached ? ['identity.sourceIp', 'httpMethod', 'resourcePath'].map(IdentitySource.context) : []),
      ],
    });
  }
}

function acknowledgeRules(restApi: RestApi): void {
  const logsRole = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs';
  Validations.of(restApi).acknowledge(
    { id: 'AwsSolutions-APIG2', reason: 'The functions validate every part of a request and list every fault' },
    { id: 'AwsSolutions-APIG3', reason: 'A web ACL costs by the month: attach one to the stage if you want it' },
    {
      id: 'AwsSolutions-APIG6',
      reason: 'Execution logs would hold paths, and a path may hold a key; there is an access log',
    },
    { id: 'AwsSolutions-COG4', reason: 'Credentials are API keys and scoped tokens: the Lambda authorizer decides' },
    { id: `AwsSolutions-IAM4[Policy::${logsRole}]`, reason: 'The policy that API Gateway asks for to write logs' },
  );
}

// The log contains the path of the resource, because the path of the request can contain a key.
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    request_id: AccessLogField.contextRequestId(),
    at: AccessLogField.contextRequestTimeEpoch(),
    ip: AccessLogField.contextIdentitySourceIp(),
    method: AccessLogField.contextHttpMethod(),
    resource: AccessLogField.contextResourcePath(),
    status: AccessLogField.contextStatus(),
    principal: AccessLogField.contextAuthorizerPrincipalId(),
    latency_ms: AccessLogField.contextResponseLatency(),
    error: AccessLogField.contextErrorResponseType(),
    authorizer_error: '$context.authorizer.error',
    integration_error: '$context.integrationErrorMessage',
    tls_version: '$context.tlsVersion',
  }),
);
