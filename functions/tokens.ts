import { aws } from './platform.ts';
import { serveOperations, tokenOperations } from './wiring.ts';

const platform = aws();
export const handler = serveOperations<'tokens'>(platform, tokenOperations(platform));
