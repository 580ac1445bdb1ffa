import { countConsumer } from '../lib/aws/consumers/count.ts';
import { aws } from './platform.ts';
import { countDeps } from './wiring.ts';

export const handler = countConsumer(countDeps(aws()));
