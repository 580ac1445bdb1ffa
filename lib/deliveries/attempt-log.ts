import type { DeliverResult } from './deliver.ts';
import type { DeliveryMessage } from './messages.ts';

/** The log event of a processed message. A failed attempt is a warning, and everything else is information. */
export function resultEvent(message: DeliveryMessage, result: DeliverResult): LogEvent {
  const delivery = deliveryFields(message);
  if (!('attempt' in result))
    return { level: 'info', event: 'delivery.not_attempted', fields: { ...delivery, reason: result.task } };
  const { verdict, attempt, disabled } = result;
  const { statusCode, error, durationMs } = attempt;
  const outcome = { status: verdict.status, status_code: statusCode, error, duration_ms: durationMs, disabled };
  const level = verdict.status === 'succeeded' ? 'info' : 'warn';
  return { level, event: 'delivery.attempted', fields: { ...delivery, ...outcome } };
}

interface LogEvent {
  level: 'info' | 'warn';
  event: string;
  fields: Record<string, unknown>;
}

/** The fields that name a delivery in the log. */
export const deliveryFields = (message: DeliveryMessage): Record<string, unknown> => ({
  webhook_id: message.webhookId,
  event_id: message.eventId,
  project_id: message.projectId,
  environment: message.environment,
  run: message.run,
  attempt: message.attempt,
});
