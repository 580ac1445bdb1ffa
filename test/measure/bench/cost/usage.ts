/** What a piece of work takes of what AWS bills. */
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
  /** To the internet: responses and deliveries. */
  outBytes: number;
  /** What stays in the table for 30 days. */
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

/** Each member of `usage`, by `factor`. */
export function scaled(usage: Usage, factor: number): Usage {
  return Object.fromEntries(Object.entries(usage).map(([name, value]) => [name, value * factor])) as unknown as Usage;
}

/** Both, member by member. */
export function sumOf(one: Usage, other: Usage): Usage {
  return added({ ...one }, { ...other }) as unknown as Usage;
}

/** Units and invocations, by what they were for: the kind of an item or the name of an index; a function. */
export interface Counts {
  readUnits: Readonly<Record<string, number>>;
  writeUnits: Readonly<Record<string, number>>;
  invocations: Readonly<Record<string, number>>;
}

export const NO_COUNTS: Counts = { readUnits: {}, writeUnits: {}, invocations: {} };

/** Member by member. */
export function added(
  some: Readonly<Record<string, number>>,
  more: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum = { ...some };
  for (const [name, value] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + value;
  return sum;
}

/** Each count, by `factor`. */
export function scaledCounts(counts: Counts, factor: number): Counts {
  const times = (some: Counts[keyof Counts]) =>
    Object.fromEntries(Object.entries(some).map(([name, value]) => [name, value * factor]));
  return {
    readUnits: times(counts.readUnits),
    writeUnits: times(counts.writeUnits),
    invocations: times(counts.invocations),
  };
}
