import { entry } from '../lib/aws/backend.ts';
import { countConsumer } from '../lib/deliveries/stream-consumers.ts';

export const { create, handler } = entry(countConsumer);
