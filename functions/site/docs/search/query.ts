/** The number of characters of a query that are searched. A pasted text can be much longer, and each of its words needs time. */
const MAX_LENGTH = 200;

/** The code in a problem document or an attempt. The other words of such a text are in many sections. */
const CODE = /"(?:code|error)"\s*:\s*"(\w+)"/;
/** An address of the reader, with a port. Samples contain other ones by chance. */
const ADDRESSES = /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g;

/** Returns the part of a typed or pasted text that is searched. */
export const queryOf = (text: string): string => {
  const [, code] = CODE.exec(text) ?? [];
  const words = code === undefined ? text.slice(0, MAX_LENGTH) : `error ${code}`;
  return words.replace(ADDRESSES, '').trim() || words;
};
