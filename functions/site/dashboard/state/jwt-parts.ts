/** The object in a part of a JWT, or `undefined` for any other text. It is not verified. */
export function objectInPart(part: string): Record<string, unknown> | undefined {
  try {
    const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds since 1970, up to the year 9999. */
export const isTimeClaim = (value: unknown): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 253_402_300_800;

/** A lone surrogate cannot be part of a URL. */
export const isTextClaim = (value: unknown): boolean => typeof value === 'string' && value.isWellFormed();
