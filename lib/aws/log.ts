import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { countFailure } from './metrics.ts';

type Line = (event: string, fields: Record<string, unknown>) => void;

/** One line of JSON per unit of work: a dotted past-tense event and its fields. Never a body, a secret or a key. */
export type Log = Record<'info' | 'warn' | 'error', Line>;

/** Omits fields that are equal in every line, because AWS bills each byte of a log. */
class Short extends LogFormatter {
  formatAttributes(
    { logLevel: level, message, timestamp, serviceName: service }: UnformattedAttributes,
    fields: LogAttributes,
  ): LogItem {
    const attributes = { level, message, timestamp: this.formatTimestamp(timestamp), service };
    return new LogItem({ attributes }).addAttributes(fields);
  }
}

let logger: Logger | undefined;

// The logger opens the streams of the process, which takes as long as a fifth of an import. Many environments never log.
const lineOf =
  (level: keyof Log): Line =>
  (event, fields) => {
    logger ??= new Logger({ logFormatter: new Short() });
    logger[level](event, fields);
  };

export const log: Log = { info: lineOf('info'), warn: lineOf('warn'), error: lineOf('error') };

export type ReportFailure = (event: string, fields: Record<string, unknown>, error: unknown) => void;

/**
 * Reports an internal failure to the operator: one ERROR line, and one count of the metric that an alarm watches. Do not call it
 * for mistakes of customers or unauthenticated clients.
 */
export const failureReporter =
  (log: Log): ReportFailure =>
  (event, fields, error) => {
    log.error(event, { ...fields, error });
    countFailure();
  };
