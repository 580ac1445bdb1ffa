import { connect } from '../lib/aws/backend.ts';
import { emailSender } from '../lib/aws/email.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { serve } from '../lib/http/serve.ts';
import { projectOperations } from './wiring.ts';

export const create = (runtime: Runtime) => {
  const sourceAddresses = runtime.variables.SOURCE_ADDRESSES?.split(',') ?? [];
  const backend = { ...connect(runtime), sendEmail: emailSender(runtime), sourceAddresses };
  return serve<'project'>(projectOperations(backend), backend);
};
export const handler = create(lambda);
