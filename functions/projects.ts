import { aws } from './platform.ts';
import { projectAdministration } from './project-wiring.ts';

export const handler = projectAdministration(aws());
