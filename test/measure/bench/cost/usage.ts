/** The billed usage of some work. */
export interface Usage {
  apiRequests: number;
  invocations: number;
  /** Memory × duration. */
  gbSeconds: number;
  writeUnits: number;
  readUnits: number;
  /** 64 KB count as one. */
  sqsRequests: number;
  schedules: number;
  emails: number;
  logBytes: number;
  /** Responses and deliveries to the internet. */
  outBytes: number;
  /** The bytes in the table for 30 days. */
  storedBytes: number;
}

export const NOTHING: Usage = {
  apiRequests: 0,
  invocations: 0,
  gbSeconds: 0,
  writeUnits: 0,
  readUnits: 0,
  sqsRequests: 0,
  schedules: 0,
  emails: 0,
  logBytes: 0,
  outBytes: 0,
  storedBytes: 0,
};

/** Multiplies each member of `usage` by `factor`. */
export function scaled(usage: Usage, factor: number): Usage {
  return Object.fromEntries(Object.entries(usage).map(([name, value]) => [name, value * factor])) as unknown as Usage;
}

/** Adds two usages member by member. */
export function sumOf(one: Usage, other: Usage): Usage {
  return added({ ...one }, { ...other }) as unknown as Usage;
}

/** Table units by kind of item or index, and invocations by function. */
export interface Counts {
  readUnits: Readonly<Record<string, number>>;
  writeUnits: Readonly<Record<string, number>>;
  invocations: Readonly<Record<string, number>>;
}

export const NO_COUNTS: Counts = { readUnits: {}, writeUnits: {}, invocations: {} };

/** Adds member by member. */
export function added(
  some: Readonly<Record<string, number>>,
  more: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum = { ...some };
  for (const [name, value] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + value;
  return sum;
}

/** Multiplies each count by `factor`. */
export function scaledCounts(counts: Counts, factor: number): Counts {
  const times = (some: Counts[keyof Counts]) =>
    Object.fromEntries(Object.entries(some).map(([name, value]) => [name, value * factor]));
  return {
    readUnits: times(counts.readUnits),
    writeUnits: times(counts.writeUnits),
    invocations: times(counts.invocations),
  };
}
