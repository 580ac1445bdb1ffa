import { join } from 'node:path';
import { type Duration, RemovalPolicy, Stack, Stage, Validations } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  type EventSourceMapping,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { Variable } from '../lib/deployment.ts';
import { bundleFunction } from './bundle.ts';
import { pinLogicalId } from './logical-ids.ts';
import { projectRoot } from './project-root.ts';
import type { Settings } from './settings.ts';

export interface BundledFunctionProps {
  /** Its file in functions/, without the extension. */
  name: string;
  /** Puts more files beside the bundle. */
  addFiles?: (directory: string) => void;
  description: string;
  settings: Settings;
  environment: Partial<Record<Variable, string>>;
  timeout: Duration;
  /** CPU comes with memory. */
  memorySize?: number;
  /**
   * It sends to a queue that it is fed from. Lambda would end such a chain after some 16 invocations (Lambda Developer Guide,
   * "Recursive loop detection"): whoever allows it says what ends the chain.
   */
  feedsItself?: boolean;
}

/** One file of functions/ as a Lambda function, with a role and a log group that are its own. */
export class BundledFunction extends LambdaFunction {
  constructor(
    scope: Construct,
    id: string,
    {
      name,
      addFiles,
      description,
      settings,
      environment,
      timeout,
      memorySize = 512,
      feedsItself = false,
    }: BundledFunctionProps,
  ) {
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: settings.logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    pinLogicalId(logGroup, `${id}Logs`);
    const isTraced = settings.functionTracing === 'on';
    super(scope, id, {
      runtime: Runtime.NODEJS_24_X,
      architecture: settings.architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64,
      handler: 'index.handler',
      code: bundledCode(scope, name, addFiles),
      description,
      role,
      logGroup,
      // Without a line when an invocation starts, ends and is billed: metrics have that. Failures are above `WARN`.
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      timeout,
      memorySize,
      tracing: isTraced ? Tracing.ACTIVE : Tracing.DISABLED,
      ...(feedsItself && { recursiveLoop: RecursiveLoop.ALLOW }),
      environment: {
        ...environment,
        POWERTOOLS_SERVICE_NAME: name,
        POWERTOOLS_METRICS_NAMESPACE: settings.stackName,
        // Not by `applicationLogLevelV2`: what has no level, as metrics in the log, counts as `INFO` there.
        ...(settings.logLevel !== 'INFO' && { POWERTOOLS_LOG_LEVEL: settings.logLevel }),
      },
    });
    logGroup.grantWrite(role);
    if (isTraced) {
      Validations.of(role).acknowledge({
        id: 'AwsSolutions-IAM5[Resource::*]',
        reason: 'X-Ray knows no resources: traces can be written or not',
      });
    }
  }
}

export interface ConsumeOptions {
  /**
   * Batches at the same time, 2 to 1,000. Unlike reserved concurrency it leaves what must wait in the queue, unreceived, and
   * it can be more than the account has (Lambda Developer Guide, "Configuring scaling behavior for SQS event source mappings").
   */
  maxConcurrency: number;
  /** Messages at most, 10 by default; more only with a window to gather them in. */
  batchSize?: number;
  /** For how long Lambda may gather messages for a batch. */
  maxBatchingWindow?: Duration;
}

/** Feeds a queue to a function in batches, with what that needs and nothing more. */
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
 * Pins the mapping that feeds a function. A mapping knows its position in a stream, and CloudFormation cannot create a second
 * mapping of the same queue and function.
 */
export const pinSource = (fn: BundledFunction, mapping: EventSourceMapping): void =>
  pinLogicalId(mapping, `${fn.node.id}Source`);

function bundledCode(scope: Construct, entry: string, addFiles: BundledFunctionProps['addFiles']): Code {
  // Such as for `cdk list`, which reads nothing but names.
  if (!Stack.of(scope).bundlingRequired) return Code.fromAsset(join(projectRoot, 'functions'));
  const outdir = Stage.of(scope)?.outdir ?? 'cdk.out';
  const directory = join(outdir, 'bundles', entry);
  bundleFunction(entry, directory, join(outdir, 'source-maps'));
  addFiles?.(directory);
  return Code.fromAsset(directory);
}
