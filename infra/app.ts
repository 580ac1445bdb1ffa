import { App } from 'aws-cdk-lib';
import { addGuard } from './guard.ts';
import { readDeployment } from './settings.ts';
import { FLAGS, ServiceStack } from './stack.ts';
import { UserError } from './user-error.ts';

try {
  const settings = readDeployment();
  const app = new App({ context: FLAGS });
  addGuard(new ServiceStack(app, settings), settings);
  app.synth();
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
