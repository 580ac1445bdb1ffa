import { countConsumer } from '../lib/deliveries/count-consumers.ts';
import { aws } from './platform.ts';
import { countDeps } from './wiring.ts';

export const handler = countConsumer(countDeps(aws()));
