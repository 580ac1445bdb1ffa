export type { components, operations, paths } from './api.js';
export * from './client.js';
export * from './replica.js';
export * from './verify.js';
