import { entry } from '../lib/aws/backend.ts';
import { deliverConsumer } from '../lib/deliveries/consumers.ts';
import { httpPost } from '../lib/deliveries/http-post.ts';
import { addressPolicy } from '../lib/webhooks/endpoint-url.ts';

/** `poster` creates the function that sends the requests of attempts. */
export const { create, handler } = entry((backend, poster: typeof httpPost = httpPost) =>
  deliverConsumer(backend, poster(addressPolicy(backend.variables))),
);
