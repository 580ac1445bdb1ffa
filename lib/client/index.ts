import type { components } from './api.js';
import { publisher as publisherOf } from './publisher.ts';
import { verify as verifyOf } from './verify.ts';

export type { components, operations, paths } from './api.js';
export * from './client.ts';
export * from './outbox.ts';
export type { Rejection } from './publish-batch.ts';
export type { Publisher, PublisherOptions, PublisherStats } from './publisher-types.ts';
export * from './replica.ts';
export { type TokenVerifierOptions, tokenVerifier } from './token-verifier.ts';
export type * from './verified-token.ts';
export { type ReceivedDelivery, VerificationError } from './verify.ts';

/** An event to publish. Its `type` determines its `data`. */
export type PublishEvent = components['schemas']['PublishEvent'];
export const publisher = publisherOf<PublishEvent>;

/** An event as in the body of a delivery. Its `type` determines its `data`. */
export type WebhookEvent = components['schemas']['Event'];
export const verify = verifyOf<WebhookEvent>;
