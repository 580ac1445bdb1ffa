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
  return Object.fromEntries(
    Object.entries(one).map(([name, value]) => [name, value + other[name as keyof Usage]]),
  ) as unknown as Usage;
}
