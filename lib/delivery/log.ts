import type { DeliverResult } from './deliver.ts';
import type { DeliveryMessage } from './messages.ts';

/** The log event of a dealt-with message. */
export function resultEvent(
  message: DeliveryMessage,
  result: DeliverResult,
): [event: string, fields: Record<string, unknown>] {
  const delivery = deliveryFields(message);
  if (!('attempt' in result)) return ['delivery.not_attempted', { ...delivery, reason: result.task }];
  const { verdict, attempt, disabled } = result;
  const { statusCode, error, durationMs } = attempt;
  return [
    'delivery.attempted',
    { ...delivery, status: verdict.status, status_code: statusCode, error, duration_ms: durationMs, disabled },
  ];
}

/** By which the log names a delivery. */
export const deliveryFields = (message: DeliveryMessage): Record<string, unknown> => ({
  webhook_id: message.webhookId,
  event_id: message.eventId,
  project_id: message.projectId,
  environment: message.environment,
  run: message.run,
  attempt: message.attempt,
});
