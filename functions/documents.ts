import { aws, withChecks } from './platform.ts';
import { documentOperations, serveOperations } from './wiring.ts';

const platform = { ...aws(), ...withChecks() };
export const handler = serveOperations<'documents'>(platform, documentOperations(platform));
