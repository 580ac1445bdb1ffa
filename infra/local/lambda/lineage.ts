/**
 * The maximum number of invocations of a function in one chain of events. Lambda counts them in a trace header, which the SDK
 * (`_X_AMZN_TRACE_ID`) and SQS propagate. At the limit, it ends the chain of a function that must not loop (Lambda Developer
 * Guide, "Use Lambda recursive loop detection to prevent infinite loops": about 16).
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

/** Whether the chain of a message has reached the limit of invocations of a function. */
export const isAtEnd = (functionId: string, trace: string | undefined): boolean =>
  (lineageOf(trace).get(functionId) ?? 0) >= MAX_INVOCATIONS;

/**
 * Builds the trace header of an invocation from the headers of its items. AWS does not document the count for a batch of several
 * chains, so this uses the longest chain.
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
