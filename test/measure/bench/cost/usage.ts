/** The billed usage of some work. */
export type Usage = typeof NOTHING;

export const NOTHING = {
  apiRequests: 0,
  invocations: 0,
  /** Memory × duration. */
  gbSeconds: 0,
  writeUnits: 0,
  readUnits: 0,
  /** Queries of the table and its indexes. */
  queries: 0,
  /** 64 KB count as one. */
  sqsRequests: 0,
  schedules: 0,
  emails: 0,
  logBytes: 0,
  /** Responses and deliveries to the internet. */
  outBytes: 0,
  /** The bytes in the table for 30 days. */
  storedBytes: 0,
};

/** Calculates each member of a usage from the members with its name. */
const combined = (combine: (name: keyof Usage) => number): Usage =>
  Object.fromEntries(Object.keys(NOTHING).map((name) => [name, combine(name as keyof Usage)])) as Usage;

/** Multiplies each member of `usage` by `factor`. */
export const scaled = (usage: Usage, factor: number): Usage => combined((name) => usage[name] * factor);

/** Adds two usages member by member. */
export const sumOf = (one: Usage, other: Usage): Usage => combined((name) => one[name] + other[name]);
