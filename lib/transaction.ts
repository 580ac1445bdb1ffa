declare const opaque: unique symbol;

/** A write that is carried out with somebody else's, all or nothing. Only the adapter that made it can look into it. */
export interface TransactionPart {
  readonly [opaque]: true;
}
