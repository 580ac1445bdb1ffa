import type { Node } from 'constructs';

/** The context parameters of the stack (`cdk deploy -c name=value`), checked and with their defaults. */
export interface Settings {
  /** Sender of the notifications: an address or domain that SES has verified. */
  senderEmail: string;
  stageName: string;
  /** Seconds that API Gateway keeps the authorizer's answer: 0 to 3600. Revocation lags by as much. */
  authorizerCacheSeconds: number;
  /** `retain`: the table outlives the stack. `destroy`: it goes with it. */
  dataRetention: 'retain' | 'destroy';
  logRetentionDays: number;
}

export const DEFAULT_SENDER = 'notifications@example.com';

/** Reads the context; throws an error that names the parameter and what it may be. */
export function readSettings(node: Node): Settings {
  const text = (name: keyof Settings, fallback: string, pattern: RegExp) => {
    const value = String(node.tryGetContext(name) ?? fallback);
    if (!pattern.test(value)) throw new Error(`The context parameter ${name} is "${value}"; it must match ${pattern}`);
    return value;
  };
  const integer = (name: keyof Settings, fallback: number, min: number, max: number) => {
    const value = Number(node.tryGetContext(name) ?? fallback);
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new Error(`The context parameter ${name} must be an integer from ${min} to ${max}`);
    }
    return value;
  };
  return {
    senderEmail: text('senderEmail', DEFAULT_SENDER, /^[^@\s]+@[^@\s]+\.[^@\s]+$/),
    stageName: text('stageName', 'live', /^[A-Za-z0-9_]{1,128}$/),
    authorizerCacheSeconds: integer('authorizerCacheSeconds', 0, 0, 3600),
    dataRetention: text('dataRetention', 'retain', /^(retain|destroy)$/) as Settings['dataRetention'],
    logRetentionDays: integer('logRetentionDays', 30, 1, 3653),
  };
}
