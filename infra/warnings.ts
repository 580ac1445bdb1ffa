import { Annotations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { DEFAULT_SENDER, type Settings } from './settings.ts';

/** Warns during synthesis about settings that deploy, but miss something that operators or callers expect. */
export function addWarnings(scope: Construct, settings: Settings): void {
  const warn = (id: string, text: string): void => Annotations.of(scope).addWarningV2(`service:${id}`, text);
  const { senderEmail, alarmEmail, projectThrottleRate, throttleRate } = settings;
  if (senderEmail === DEFAULT_SENDER) {
    warn(
      'sender',
      'Set -c senderEmail=… to an address that SES has verified. The service sends notifications from it.',
    );
  }
  if (alarmEmail === '')
    warn('alarms', 'Set -c alarmEmail=… to receive alarms by email. Without it, alarms only change their state.');
  if (2 * projectThrottleRate > throttleRate) {
    warn(
      'throttles',
      `Set -c throttleRate=… to at least ${2 * projectThrottleRate}. Otherwise one project can use over half of the rate of a method.`,
    );
  }
}
