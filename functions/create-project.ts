import { aws } from './platform.ts';
import { projectCreation } from './wiring.ts';

export const handler = projectCreation(aws());
