/** A filter by document. At most one of its members is not empty. */
interface DocumentFilter {
  document_key: string;
  /** The first segments of keys. */
  prefix: string;
}

const END = ':*';

/** The filter of a search text: a key, or as in patterns, a prefix such as `org:acme:*`. */
export const filterOf = (text: string): DocumentFilter =>
  text.endsWith(END) ? { document_key: '', prefix: text.slice(0, -END.length) } : { document_key: text, prefix: '' };

export const textOfFilter = ({ document_key, prefix }: DocumentFilter): string =>
  prefix ? prefix + END : document_key;
