import { join } from 'node:path';
import { Duration, RemovalPolicy, Stack, Stage } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Variable } from '../lib/deployment.ts';
import { bundleFunction } from './bundle.ts';
import type { Egress } from './egress.ts';
import { pinLogicalId } from './logical-ids.ts';
import { projectRoot } from './project-root.ts';

/** Without values, the timeout is 20 seconds and the memory 512 MB. Lambda allocates CPU in proportion to the memory. */
export interface BundledFunctionProps extends Pick<lambda.FunctionOptions, 'description' | 'timeout' | 'memorySize'> {
  /** The file in functions/, without the extension. */
  name: string;
  /** Adds files to the asset. */
  addFiles?: (directory: string) => void;
  environment?: Partial<Record<Variable, string>>;
  /**
   * Allows the function to send messages to its own queue. Otherwise Lambda stops such a chain after about 16 invocations (Lambda
   * Developer Guide, "Recursive loop detection"). State at each use what ends the chain.
   */
  feedsItself?: boolean;
  /** The network of its connections. Without it, they come from changing addresses of AWS. */
  egress?: Egress | undefined;
}

/** A Lambda function from a file in functions/, with its own role and log group. */
export class BundledFunction extends lambda.Function {
  constructor(
    scope: Construct,
    id: string,
    { name, addFiles, environment, feedsItself = false, egress, ...options }: BundledFunctionProps,
  ) {
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const logGroup = new LogGroup(scope, `${id}Logs`, { removalPolicy: RemovalPolicy.DESTROY });
    pinLogicalId(logGroup, `${id}Logs`);
    super(scope, id, {
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'index.handler',
      code: bundledCode(scope, name, addFiles),
      role,
      logGroup,
      // Omits the lines for the start, end and billing of an invocation, because metrics contain the same data. Failures are at
      // least `WARN`.
      loggingFormat: lambda.LoggingFormat.JSON,
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      applicationLogLevelV2: lambda.ApplicationLogLevel.INFO,
      timeout: Duration.seconds(20),
      memorySize: 512,
      ...options,
      ...(feedsItself && { recursiveLoop: lambda.RecursiveLoop.ALLOW }),
      ...egress?.options,
      environment: {
        ...environment,
        POWERTOOLS_SERVICE_NAME: name,
        POWERTOOLS_METRICS_NAMESPACE: Stack.of(scope).stackName,
      },
    });
    logGroup.grantWrite(role);
    egress?.grantAttach(role);
  }

  override addEnvironment(name: Variable, value: string): this {
    return super.addEnvironment(name, value);
  }

  /**
   * Adds the only event source of the function. Its id is pinned, because it stores its position in a stream, and CloudFormation
   * cannot create a second mapping of the same queue and function.
   */
  override addEventSourceMapping(id: string, options: lambda.EventSourceMappingOptions): lambda.EventSourceMapping {
    const mapping = super.addEventSourceMapping(id, options);
    pinLogicalId(mapping, `${this.node.id}Source`);
    return mapping;
  }
}

function bundledCode(scope: Construct, entry: string, addFiles: BundledFunctionProps['addFiles']): lambda.Code {
  // For example for `cdk list`, which reads only names.
  if (!Stack.of(scope).bundlingRequired) return lambda.Code.fromAsset(join(projectRoot, 'functions'));
  const outdir = Stage.of(scope)?.outdir ?? 'cdk.out';
  // The CDK reads each directory once, and the files of another stack can differ.
  const directory = join(outdir, 'bundles', Stack.of(scope).artifactId, entry);
  bundleFunction(entry, directory, join(outdir, 'source-maps'));
  addFiles?.(directory);
  return lambda.Code.fromAsset(directory);
}
