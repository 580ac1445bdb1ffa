import { ConnectionId } from '../documents/connections.ts';
import { DocumentKey } from '../documents/document.ts';
import { idOf } from '../ids.ts';
import { KeyReference } from '../keys/key.ts';
import { TokenId } from '../keys/revoked-tokens.ts';
import type { PathParameter } from './operation.ts';

/** The ids that examples use. */
export const EXAMPLE_IDS = {
  key: 'key_01Fkq2Xb9TzA',
  token: 'tok_01KG9Y2C4D03GGJ2K4M6N8P0Q201Fkq2Xb9TzA7Q4ZKD',
  webhook: 'whk_01KG9XZ3M0T5V8QW2R4Y6B7CDE',
  event: 'evt_01KG9Y0A1N3P5R7S9TVXZB2D4F',
  recovery: 'rec_01KG9Y5B6H7J8K9MNPQRSTVWXY',
  document: 'org:acme:doc-1',
  connection: 'laptop-1',
} as const;

export const keyParameter: PathParameter = {
  resource: 'key',
  schema: KeyReference,
  description: 'The id of the key, or the key itself.',
  example: EXAMPLE_IDS.key,
};
export const tokenParameter: PathParameter = {
  resource: 'token',
  schema: TokenId,
  description: 'The `token_id` of the token.',
  example: EXAMPLE_IDS.token,
};
export const webhookParameter: PathParameter = {
  resource: 'webhook',
  schema: idOf('whk'),
  description: 'The id of the webhook.',
  example: EXAMPLE_IDS.webhook,
};
export const eventParameter: PathParameter = {
  resource: 'event',
  schema: idOf('evt'),
  description: 'The id of the event.',
  example: EXAMPLE_IDS.event,
};
export const documentParameter: PathParameter = {
  resource: 'document',
  schema: DocumentKey,
  description: 'The key of the document.',
  example: EXAMPLE_IDS.document,
};
export const connectionParameter: PathParameter = {
  resource: 'connection',
  schema: ConnectionId,
  description: 'An id of your choice: 1 to 64 of `A-Z a-z 0-9 _ -`.',
  example: EXAMPLE_IDS.connection,
};
