import { App, type AppProps } from 'aws-cdk-lib';
import { readSettings } from './settings.ts';
import { ServiceStack } from './stack.ts';

/** Creates the CDK app for deployments, the local stack and tests. */
export function createApp(props?: AppProps): App {
  const app = new App(props);
  const { stackName, dataRetention } = readSettings(app.node);
  new ServiceStack(app, 'DocumentSyncService', {
    stackName,
    // Without the stack, the API has another address, and messages and pending retries are lost, although the table remains.
    terminationProtection: dataRetention === 'retain',
    description: 'Document Sync Service: authentication and webhooks for document synchronization',
  });
  return app;
}
