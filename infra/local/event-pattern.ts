/**
 * Whether a value matches an event pattern of EventBridge or of an event source mapping. Supports only equality and prefixes. A
 * list matches if one of its members does (EventBridge User Guide, "Event pattern matching").
 */
export function matchesPattern(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) return [value].flat().some((each) => pattern.some((rule) => obeys(rule, each)));
  return Object.entries(pattern as object).every(([name, inner]) =>
    matchesPattern(inner, (value as Record<string, unknown> | undefined)?.[name]),
  );
}

function obeys(rule: unknown, value: unknown): boolean {
  const prefix = (rule as { prefix?: string } | null)?.prefix;
  return prefix === undefined ? rule === value : typeof value === 'string' && value.startsWith(prefix);
}
