import { connect } from '../lib/aws/backend.ts';
import { emailSender } from '../lib/aws/email.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { emailEventsConsumer } from '../lib/projects/consumers.ts';
import { emailEventsDeps } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  return emailEventsConsumer(emailEventsDeps({ ...backend, sendEmail: emailSender(runtime) }), backend);
};
export const handler = create(lambda);
