import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';

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

/** One line of JSON per unit of work: a dotted past-tense event and its fields. Never a body, a secret or a key. */
export const log = new Logger({ logFormatter: new Short() });
