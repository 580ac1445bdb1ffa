import { join } from 'node:path';
import { Duration, RemovalPolicy, Stack, Stage } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { Variable } from '../lib/deployment.ts';
import { bundleFunction } from './bundle.ts';
import type { Egress } from './egress.ts';
import { pinLogicalId } from './logical-ids.ts';
import { projectRoot } from './project-root.ts';

export interface BundledFunctionProps {
  /** The file in functions/, without the extension. */
  name: string;
  /** Adds files to the asset. */
  addFiles?: (directory: string) => void;
  description: string;
  environment?: Partial<Record<Variable, string>>;
  /** 20 seconds by default. */
  timeout?: Duration;
  /** The memory in MB, 512 by default. Lambda allocates CPU in proportion. */
  memorySize?: number;
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
}

export interface ConsumeOptions {
  /**
   * Concurrent batches, 2 to 1,000. Unlike with reserved concurrency, waiting messages stay in the queue without being received.
   * The number can exceed the quota of the account (Lambda Developer Guide, "Configuring scaling behavior for SQS event source
   * mappings").
   */
  maxConcurrency: number;
  /** The maximum number of messages in a batch, 10 by default. More than 10 need a batching window. */
  batchSize?: number;
  /** How long Lambda gathers messages for a batch. */
  maxBatchingWindow?: Duration;
}

/** Invokes a function with batches from a queue, and grants only the permissions that this needs. */
export function consumeQueue(
  fn: BundledFunction,
  queue: Queue,
  { maxConcurrency, batchSize = 10, maxBatchingWindow }: ConsumeOptions,
): void {
  const mapping = fn.addEventSourceMapping('Messages', {
    eventSourceArn: queue.queueArn,
    batchSize,
    reportBatchItemFailures: true,
    maxConcurrency,
    ...(maxBatchingWindow && { maxBatchingWindow }),
  });
  pinSource(fn, mapping);
  queue.grant(fn, 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes');
}

/**
 * Pins the event source mapping of a function. A mapping stores its position in a stream, and CloudFormation cannot create a
 * second mapping of the same queue and function.
 */
export const pinSource = (fn: BundledFunction, mapping: lambda.EventSourceMapping): void =>
  pinLogicalId(mapping, `${fn.node.id}Source`);

function bundledCode(scope: Construct, entry: string, addFiles: BundledFunctionProps['addFiles']): lambda.Code {
  // For example for `cdk list`, which reads only names.
  if (!Stack.of(scope).bundlingRequired) return lambda.Code.fromAsset(join(projectRoot, 'functions'));
  const outdir = Stage.of(scope)?.outdir ?? 'cdk.out';
  const directory = join(outdir, 'bundles', entry);
  bundleFunction(entry, directory, join(outdir, 'source-maps'));
  addFiles?.(directory);
  return lambda.Code.fromAsset(directory);
}
