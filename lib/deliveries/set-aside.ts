export interface SetAsideDeps<Item> {
  /** Whether an error can end without a change to the record. */
  isOutage(error: unknown): boolean;
  /** Stores a record where an operator can replay it, and reports the error. */
  setAside(record: Item, error: unknown): Promise<void>;
}

/**
 * Handles the records of a stream so that a record that always fails does not block later ones. Lambda reads a shard in order and
 * retries a failed record until it succeeds or expires. During an outage, every record fails, so retries are correct. A record
 * that fails for any other reason is set aside. If that fails too, the record is retried.
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
