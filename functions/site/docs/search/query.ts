/** The number of characters of a query that are searched. A pasted text can be much longer, and each of its words needs time. */
const MAX_LENGTH = 200;

/** Returns the part of a typed or pasted text that is searched. */
export const queryOf = (text: string): string => text.slice(0, MAX_LENGTH);
