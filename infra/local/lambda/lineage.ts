/**
 * Lambda counts how often each function was invoked in one chain of events, in a trace header that the SDK passes on by itself
 * (`_X_AMZN_TRACE_ID`), and SQS with the message. After so many it ends the chain of a function that may not loop (Lambda
 * Developer Guide, "Use Lambda recursive loop detection to prevent infinite loops": about 16).
 */
const MAX_INVOCATIONS = 16;

/** The invocations of a chain, by function. */
type Lineage = ReadonlyMap<string, number>;

function lineageOf(trace: string | undefined): Lineage {
  const entries = /(?:^|;)Lineage=([^;]+)/.exec(trace ?? '')?.[1]?.split('|') ?? [];
  return new Map(
    entries.map((entry) => {
      const [name = '', count] = entry.split(':');
      return [name, Number(count)];
    }),
  );
}

/** Whether the chain of a message has as many invocations of a function as Lambda lets it have. */
export const isAtEnd = (functionId: string, trace: string | undefined): boolean =>
  (lineageOf(trace).get(functionId) ?? 0) >= MAX_INVOCATIONS;

/**
 * The trace header of an invocation, from those of what it was invoked with. AWS does not say what a batch of several chains
 * counts; here it is the longest of them.
 */
export function traceOf(functionId: string, traces: readonly (string | undefined)[]): string {
  const counts = new Map<string, number>();
  for (const [name, count] of traces.flatMap((trace) => [...lineageOf(trace)])) {
    counts.set(name, Math.max(count, counts.get(name) ?? 0));
  }
  counts.set(functionId, (counts.get(functionId) ?? 0) + 1);
  const lineage = [...counts].map((entry) => entry.join(':')).join('|');
  return `Root=1-00000000-000000000000000000000000;Sampled=0;Lineage=${lineage}`;
}
