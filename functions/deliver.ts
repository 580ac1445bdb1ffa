import { connect } from '../lib/aws/backend.ts';
import { httpPost } from '../lib/aws/http-post.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { deliverConsumer } from '../lib/deliveries/consumers.ts';
import { addressPolicy } from '../lib/webhooks/endpoint-url.ts';

/** `poster` creates the function that sends the requests of attempts. */
export const create = (runtime: Runtime, poster: typeof httpPost = httpPost) =>
  deliverConsumer(connect(runtime), poster(addressPolicy(runtime.variables)));
export const handler = create(lambda);
