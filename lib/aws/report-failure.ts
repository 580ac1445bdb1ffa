import { stageOf } from '../stages.ts';
import { log } from './log.ts';
import { countFailure } from './metrics.ts';

/**
 * Reports an internal failure to the operator: one ERROR line with the stage that failed, and one count of the metric that an
 * alarm watches. Do not call it for mistakes of customers or unauthenticated clients.
 */
export function reportFailure(event: string, fields: Record<string, unknown>, error: unknown): void {
  log.error(event, { ...fields, stage: stageOf(error), error: error as Error });
  countFailure();
}
