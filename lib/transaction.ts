declare const opaque: unique symbol;

/** A write for the transaction of another adapter. Only the adapter that created it can read it. */
export interface TransactionPart {
  readonly [opaque]: true;
}
