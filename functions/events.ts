import { aws } from './platform.ts';
import { eventOperations, serveOperations } from './wiring.ts';

const platform = aws();
export const handler = serveOperations<'events'>(platform, eventOperations(platform));
