import type { components } from './api.js';
import { publisher as publisherOf } from './publisher.js';

export type { components, operations, paths } from './api.js';
export * from './client.js';
export * from './outbox.js';
export type { Rejection } from './publish-batch.js';
export type { Publisher, PublisherOptions, PublisherStats } from './publisher-types.js';
export * from './replica.js';
export * from './token-verifier.js';
export * from './verify.js';

/** An event to publish. Its `type` determines its `data`. */
export type PublishEvent = components['schemas']['PublishEvent'];
export const publisher = publisherOf<PublishEvent>;
