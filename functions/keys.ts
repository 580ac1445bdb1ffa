import { keyViolations } from '../lib/keys/handlers.ts';
import { aws, withEmail } from './platform.ts';
import { keyOperations, serveOperations } from './wiring.ts';

const platform = { ...aws(), ...withEmail() };
export const handler = serveOperations<'keys'>(platform, keyOperations(platform), keyViolations(platform.clock));
