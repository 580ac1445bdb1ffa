import { sourceAddresses } from '../lib/aws/environment.ts';
import { aws, withEmail } from './platform.ts';
import { projectOperations, serveOperations } from './wiring.ts';

const platform = { ...aws(), ...withEmail(), sourceAddresses: sourceAddresses() };
export const handler = serveOperations<'project'>(platform, projectOperations(platform));
