import type { Check } from '../run.ts';
import { accessChecks } from './access.ts';
import { documentChecks } from './documents.ts';
import { gatewayChecks } from './gateway.ts';
import { webhookChecks } from './webhooks.ts';

export const checks: readonly Check[] = [...gatewayChecks, ...accessChecks, ...documentChecks, ...webhookChecks];
