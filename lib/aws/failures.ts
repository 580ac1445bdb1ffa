import { stageOf } from '../stages.ts';
import { log } from './log.ts';
import { countFailure } from './metrics.ts';

/**
 * Tells the operator about a failure on our side: one ERROR line with the stage that failed, and one count of the metric
 * that an alarm watches. Nothing that a customer or a stranger does may get here.
 */
export function reportFailure(event: string, fields: Record<string, unknown>, error: unknown): void {
  log.error(event, { ...fields, stage: stageOf(error), error: error as Error });
  countFailure();
}
