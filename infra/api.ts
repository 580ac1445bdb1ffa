import { Duration, RemovalPolicy, Size, Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  AuthorizationType,
  type CfnMethod,
  type CfnRestApi,
  EndpointType,
  IdentitySource,
  LambdaIntegration,
  LogGroupLogDestination,
  type Method,
  RequestAuthorizer,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { allowsCrossOrigin, CORS_ALLOWED, CORS_EXPOSED, PREFLIGHT_SECONDS } from '../lib/api/cors.ts';
import type { ApiFunction } from '../lib/api/operation.ts';
import { allOperations } from '../lib/api/operations.ts';
import { addDomain, SECURITY_POLICY } from './domain.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import type { Settings } from './settings.ts';

export interface ApiProps {
  settings: Settings;
  authorizer: LambdaFunction;
  functions: Record<ApiFunction, LambdaFunction>;
}

/** The REST API: one method for every operation of lib/api/operations.ts, behind the authorizer unless anyone may call it. */
export class Api extends Construct {
  readonly restApi: RestApi;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;

  constructor(scope: Construct, id: string, { settings, authorizer, functions }: ApiProps) {
    super(scope, id);
    this.restApi = this.createRestApi(settings);
    const requestAuthorizer = this.createAuthorizer(authorizer, settings);
    const integrations = Object.fromEntries(
      Object.entries(functions).map(([name, fn]) => [
        name,
        new LambdaIntegration(fn, { scopePermissionToMethod: false }),
      ]),
    );
    for (const operation of allOperations) {
      const resource = this.restApi.root.resourceForPath(operation.path);
      const isPublic = operation.callers === 'anyone';
      const method = resource.addMethod(
        operation.method,
        integrations[operation.function],
        isPublic
          ? { authorizationType: AuthorizationType.NONE }
          : { authorizationType: AuthorizationType.CUSTOM, authorizer: requestAuthorizer },
      );
      if (isPublic) acknowledgePublic(method, 'Pages, their scripts and the description of the API hold no secret');
    }
    this.addPreflights();
    acknowledgeRules(this.restApi);
    this.baseUrl = `https://${settings.domainName || this.defaultHost(settings)}`;
    addGatewayResponses(this, this.restApi, this.baseUrl);
    addDomain(this, this.restApi, settings);
    this.dashboardUrl = `${this.baseUrl}/dashboard`;
  }

  private defaultHost({ stageName }: Settings): string {
    const { region, urlSuffix } = Stack.of(this);
    return `${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${stageName}`;
  }

  /** Tells a browser whether a page of another origin may call (Fetch Standard, "CORS-preflight fetch"). */
  private addPreflights(): void {
    const operations = Map.groupBy(allOperations.filter(allowsCrossOrigin), ({ path }) => path);
    for (const [path, methods] of operations) {
      const preflight = this.restApi.root.resourceForPath(path).addCorsPreflight({
        allowOrigins: ['*'],
        allowMethods: methods.map(({ method }) => method),
        allowHeaders: CORS_ALLOWED,
        exposeHeaders: CORS_EXPOSED,
        maxAge: Duration.seconds(PREFLIGHT_SECONDS),
      });
      // The gateway makes this response itself, out of text (API Gateway Developer Guide, "Content type conversions").
      const cfn = preflight.node.defaultChild as CfnMethod;
      cfn.addPropertyOverride('Integration.ContentHandling', 'CONVERT_TO_TEXT');
      acknowledgePublic(preflight, 'A browser asks for permission before it has a credential to send');
    }
  }

  private createRestApi({
    stackName,
    stageName,
    domainName,
    cloudWatchRole,
    logRetentionDays,
    throttleRate,
    throttleBurst,
    endpointAccessMode,
  }: Settings): RestApi {
    const accessLog = new LogGroup(this, 'AccessLog', {
      retention: logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const restApi = new RestApi(this, 'RestApi', {
      restApiName: stackName, // alarms know an API by its name
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: domainName !== '',
      cloudWatchRole: cloudWatchRole === 'create',
      // No browser sends a credential by itself here: nobody can measure what compression would give away (BREACH).
      minCompressionSize: Size.bytes(1024),
      // As bytes, or the gateway would replace those that are not UTF-8 before a function can refuse them.
      binaryMediaTypes: ['application/json'],
      // No tracing: a trace holds the whole path, and a path may hold a key.
      deployOptions: {
        stageName,
        throttlingRateLimit: throttleRate,
        throttlingBurstLimit: throttleBurst,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: ACCESS_LOG,
      },
    });
    restApi.node.tryRemoveChild('Endpoint'); // an output like ours
    // RestApi drops both silently. TLS 1.3 only, on the default endpoint too (API Gateway security policies).
    const cfn = restApi.node.defaultChild as CfnRestApi;
    cfn.addPropertyOverride('SecurityPolicy', SECURITY_POLICY);
    cfn.addPropertyOverride('EndpointAccessMode', endpointAccessMode);
    return restApi;
  }

  private createAuthorizer(handler: LambdaFunction, { authorizerCacheSeconds }: Settings): RequestAuthorizer {
    const cached = authorizerCacheSeconds > 0;
    return new RequestAuthorizer(this, 'Authorizer', {
      handler,
      resultsCacheTtl: Duration.seconds(authorizerCacheSeconds),
      // A cached decision is for one credential from one address; sam local knows no identity source but headers.
      identitySources: [
        IdentitySource.header('Authorization'),
        ...(cached ? [IdentitySource.context('identity.sourceIp')] : []),
      ],
    });
  }
}

function acknowledgePublic(method: Method, reason: string): void {
  Validations.of(method).acknowledge({ id: 'AwsSolutions-APIG4', reason }, { id: 'AwsSolutions-COG4', reason });
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

// The path itself may hold a key: the log has the resource's path instead.
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
