/** The properties of `AWS::Logs::MetricFilter` that the template uses. */
export interface MetricFilterProperties {
  LogGroupName: string;
  FilterPattern: string;
  MetricTransformations: { MetricNamespace: string; MetricName: string; MetricValue: string }[];
}

export type LogEvent = Record<string, unknown>;

/** Returns the lines of a text that are JSON objects. */
export function logEvents(text: string): LogEvent[] {
  return text.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === 'object' && value !== null ? [value as LogEvent] : [];
    } catch {
      return [];
    }
  });
}

const CONDITION = /^\$\.(\w+) (=|!=) "([^"]*)"$/;

/**
 * Whether an event matches a pattern: text members, wildcards and `&&` (CloudWatch Logs User Guide, "Filter pattern syntax"). A
 * missing member matches nothing. Throws for other patterns.
 */
export function matchesPattern(pattern: string, event: LogEvent): boolean {
  const [, inner = ''] = /^\{ (.*) \}$/.exec(pattern) ?? [];
  return inner.split(' && ').every((condition) => {
    const [, member, operator, expected] = CONDITION.exec(condition) ?? [];
    if (member === undefined || expected === undefined) throw new Error(`Unknown filter pattern: ${pattern}`);
    const value = event[member];
    const isEqual = typeof value === 'string' && wildcard(expected).test(value);
    return isEqual === (operator === '=');
  });
}

const wildcard = (text: string): RegExp => {
  const parts = text.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
};
