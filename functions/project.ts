import { aws, withEmail } from './platform.ts';
import { projectOperations, serveOperations } from './wiring.ts';

const platform = { ...aws(), ...withEmail() };
export const handler = serveOperations<'project'>(platform, projectOperations(platform));
