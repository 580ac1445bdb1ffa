import { Annotations, CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Api } from './api.ts';
import { BundledFunction } from './bundled-function.ts';
import { Connections } from './connections.ts';
import { createDataTable } from './data.ts';
import { Delivery } from './delivery.ts';
import { DEFAULT_SENDER, readSettings } from './settings.ts';

/** The whole service. It composes; each part is declared where it lives. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const settings = readSettings(this.node);
    if (settings.senderEmail === DEFAULT_SENDER) {
      Annotations.of(this).addWarningV2(
        'service:sender',
        'Set -c senderEmail=… to an address that SES has verified: notifications are sent from it.',
      );
    }
    const table = createDataTable(this, settings);
    const seconds = Duration.seconds;
    const apiFunction = (id: string, name: string, description: string, environment = {}) =>
      new BundledFunction(this, id, {
        name,
        description,
        settings,
        environment: { TABLE_NAME: table.tableName, ...environment },
        timeout: seconds(20),
      });

    const authorizer = apiFunction('Authorize', 'authorizer', 'Decides who may call what');
    table.grant(authorizer, 'dynamodb:GetItem', 'dynamodb:UpdateItem');

    const keys = apiFunction('Keys', 'keys', 'API keys: generate, rotate, revoke, restrict');
    table.grant(
      keys,
      'dynamodb:GetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
      'dynamodb:ConditionCheckItem',
    );

    const events = apiFunction('Events', 'events', 'Publishes and reads events');
    table.grant(events, 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem');

    const createProject = apiFunction(
      'CreateProject',
      'create-project',
      'Creates a project and its first admin key: {name, email}',
    );
    table.grant(createProject, 'dynamodb:PutItem');

    const tokens = apiFunction('Tokens', 'tokens', 'Mints scoped tokens');
    table.grant(tokens, 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem');

    const documents = apiFunction('Documents', 'documents', 'Documents, sync and connections');
    table.grant(documents, 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:DeleteItem');

    const webhooks = apiFunction('Webhooks', 'webhooks', 'Webhooks and their deliveries');
    const api = new Api(this, 'Api', {
      settings,
      authorizer,
      functions: { keys, tokens, events, webhooks, documents },
    });
    const dashboardUrl = `https://${api.restApi.restApiId}.execute-api.${this.region}.${this.urlSuffix}/${settings.stageName}/dashboard`;
    const delivery = new Delivery(this, 'Delivery', { table, settings, dashboardUrl });
    webhooks.addEnvironment('DELIVERIES_QUEUE_URL', delivery.queue.queueUrl);
    delivery.queue.grant(webhooks, 'sqs:SendMessage');
    table.grant(
      webhooks,
      'dynamodb:GetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
    );

    const connections = new Connections(this, 'Connections', { table, settings, deadLetters: delivery.deadLetters });
    documents.addEnvironment('CHECKS_QUEUE_URL', connections.checks.queueUrl);
    connections.checks.grant(documents, 'sqs:SendMessage');

    new CfnOutput(this, 'BaseUrl', {
      value: api.restApi.url,
      description: '{base_url} of the API, without its last slash',
    });
    new CfnOutput(this, 'CreateProjectFunction', {
      value: createProject.functionName,
      description: 'Invoke it to create a project',
    });
  }
}
