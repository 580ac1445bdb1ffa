import { aws } from './platform.ts';
import { projectCreation } from './project-wiring.ts';

export const handler = projectCreation(aws());
