import { App, type AppProps } from 'aws-cdk-lib';
import { readSettings } from './settings.ts';
import { ServiceStack } from './stack.ts';

/** Creates the CDK app for deployments, the local stack and tests. */
export function createApp(props?: AppProps): App {
  const app = new App(props);
  new ServiceStack(app, 'DocumentSyncService', {
    stackName: readSettings(app.node).stackName,
    description: 'Document Sync Service: authentication and webhooks for document synchronization',
  });
  return app;
}
