import { connectionParameter } from '../../documents/connections.ts';
import { documentParameter } from '../../documents/document.ts';
import { engineParameter } from '../../documents/engines.ts';
import { eventParameter } from '../../events/event.ts';
import { keyParameter } from '../../keys/key.ts';
import { tokenParameter } from '../../keys/revoked-tokens.ts';
import { webhookParameter } from '../../webhooks/webhook.ts';

/** The ids that examples use. */
export const EXAMPLE_IDS = {
  key: keyParameter.example,
  token: tokenParameter.example,
  webhook: webhookParameter.example,
  event: eventParameter.example,
  recovery: 'rec_01KG9Y5B6H7J8K9MNPQRSTVWXY',
  document: documentParameter.example,
  connection: connectionParameter.example,
  engine: engineParameter.example,
} as const;
