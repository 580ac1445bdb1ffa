import { iso } from '../../schema.ts';

/** The request and response of one call. */
export interface Example {
  body?: unknown;
  /** The response with the usual status. */
  response?: unknown;
}

export const AT = Date.parse('2026-01-31T12:00:00.000Z');
/** So many seconds after `AT`. */
export const at = (seconds: number): string => iso(AT + seconds * 1000);

export const listOf = (item: unknown) => ({ data: [item], next_cursor: null });
