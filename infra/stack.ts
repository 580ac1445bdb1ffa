import { Annotations, CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { BY_PROJECT } from '../lib/deployment.ts';
import { Api } from './api.ts';
import { BundledFunction } from './bundled-function.ts';
import { Connections } from './connections.ts';
import { createDataTable, grantIndex, grantKey, grantTable } from './data.ts';
import { Delivery } from './delivery.ts';
import { Observability } from './observability.ts';
import { writePages } from './pages.ts';
import { DEFAULT_SENDER, readSettings } from './settings.ts';

/** The whole service. It composes; each part is declared where it lives. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    // CDK names a role both in DependsOn and by GetAtt: harmless, and not ours to change.
    this.templateOptions.metadata = { 'cfn-lint': { config: { ignore_checks: ['W3005'] } } };
    const settings = readSettings(this.node);
    if (settings.senderEmail === DEFAULT_SENDER) {
      Annotations.of(this).addWarningV2(
        'service:sender',
        'Set -c senderEmail=… to an address that SES has verified: notifications are sent from it.',
      );
    }
    const encryptionKey =
      settings.encryption === 'customer' ? new Key(this, 'Key', { enableKeyRotation: true }) : undefined;
    const table = createDataTable(this, settings, encryptionKey);
    const apiFunction = (id: string, name: string, description: string) =>
      new BundledFunction(this, id, {
        name,
        description,
        settings,
        environment: { TABLE_NAME: table.tableName },
        timeout: Duration.seconds(20),
      });

    const authorizer = apiFunction('Authorize', 'authorizer', 'Decides who may call what');
    grantTable(table, authorizer, ['dynamodb:GetItem', 'dynamodb:UpdateItem']);

    const keys = apiFunction('Keys', 'keys', 'API keys: generate, rotate, revoke, restrict');
    grantTable(table, keys, [
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
      'dynamodb:ConditionCheckItem',
    ]);
    grantIndex(table, keys, BY_PROJECT);

    const events = apiFunction('Events', 'events', 'Publishes and reads events');
    grantTable(table, events, ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem']);

    const createProject = apiFunction(
      'CreateProject',
      'create-project',
      'Creates a project and its first admin key: {name, email}',
    );
    grantTable(table, createProject, ['dynamodb:PutItem']);

    const tokens = apiFunction('Tokens', 'tokens', 'Mints scoped tokens');
    grantTable(table, tokens, ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem']);

    const documents = apiFunction('Documents', 'documents', 'Documents, sync and connections');
    grantTable(table, documents, [
      'dynamodb:GetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
    ]);

    const dashboard = new BundledFunction(this, 'Dashboard', {
      name: 'dashboard',
      entry: 'dashboard/server',
      addFiles: writePages,
      description: 'The dashboard, the API reference and the OpenAPI document',
      settings,
      environment: {},
      timeout: Duration.seconds(10),
    });

    const webhooks = apiFunction('Webhooks', 'webhooks', 'Webhooks and their deliveries');
    const api = new Api(this, 'Api', {
      settings,
      authorizer,
      functions: { keys, tokens, events, webhooks, documents, dashboard },
    });
    const defaultHost = `${api.restApi.restApiId}.execute-api.${this.region}.${this.urlSuffix}/${settings.stageName}`;
    const dashboardUrl = `https://${settings.domainName || defaultHost}/dashboard`;
    const delivery = new Delivery(this, 'Delivery', { table, settings, dashboardUrl, encryptionKey });
    webhooks.addEnvironment('DELIVERIES_QUEUE_URL', delivery.queue.queueUrl);
    delivery.queue.grant(webhooks, 'sqs:SendMessage');
    grantTable(table, webhooks, [
      'dynamodb:GetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
    ]);

    const connections = new Connections(this, 'Connections', {
      table,
      settings,
      deadLetters: delivery.deadLetters,
      encryptionKey,
    });
    documents.addEnvironment('CHECKS_QUEUE_URL', connections.checks.queueUrl);
    connections.checks.grant(documents, 'sqs:SendMessage');

    const { lanes, deadLetters, fanOutFailures, fanOut } = delivery;
    const functions = {
      api: [authorizer, keys, tokens, events, webhooks, documents, dashboard],
      workers: [createProject, fanOut, ...Object.values(lanes).map(({ deliver }) => deliver), connections.check],
    };
    for (const fn of [...functions.api, ...functions.workers]) grantKey(encryptionKey, fn);
    new Observability(this, 'Observability', {
      settings,
      functions,
      fanOut,
      queues: {
        Deliveries: lanes.quick.queue,
        NewDeliveries: lanes.new.queue,
        SlowDeliveries: lanes.slow.queue,
        Checks: connections.checks,
      },
      failures: { DeadLetters: deadLetters, FanOutFailures: fanOutFailures },
    });

    new CfnOutput(this, 'BaseUrl', {
      value: api.restApi.url,
      description: '{base_url} of the API, without its last slash',
    });
    new CfnOutput(this, 'DashboardUrl', { value: dashboardUrl, description: 'Open it with an admin key' });
    new CfnOutput(this, 'CreateProjectFunction', {
      value: createProject.functionName,
      description: 'Invoke it to create a project',
    });
  }
}
