export interface SetAsideDeps<Item> {
  /** Whether an error can end without a change to the record. */
  isOutage(error: unknown): boolean;
  /** Stores a record where an operator can replay it, and reports the error. */
  setAside(record: Item, error: unknown): Promise<void>;
}

/**
 * Handles the records of a stream so that one that always fails does not stop those behind it: a shard is read in order, so a
 * record that throws is repeated until it succeeds or expires. During an outage every record fails and repetition is right. A
 * record that fails for any other reason is set aside. If that fails too, the record is repeated.
 */
export function settingAside<Item>(
  handle: (record: Item) => Promise<void>,
  { isOutage, setAside }: SetAsideDeps<Item>,
): (record: Item) => Promise<void> {
  return async (record) => {
    try {
      await handle(record);
    } catch (error) {
      if (isOutage(error)) throw error;
      await setAside(record, error);
    }
  };
}
