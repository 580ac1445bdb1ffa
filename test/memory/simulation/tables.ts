import type { Item } from '../../../infra/local/memory/paths.ts';
import { LAYOUT_KEY } from '../../../lib/deployment.ts';
import { nextEpoch } from '../../../lib/documents/epochs.ts';
import { RecordedDynamoDb } from '../../support/memory-table.ts';
import type { World } from './world.ts';

/** The delays until indexes and eventually consistent reads contain a write. Most writes take milliseconds. */
const REPLICATION_MS = [1, 10, 900];
export const MAX_REPLICATION_MS = Math.max(...REPLICATION_MS);
/**
 * How long execution environments with the old table can still serve requests after a deployment with the new one. It is typically
 * less than a minute (AWS Lambda Developer Guide, "Updating function code").
 */
const SWITCH_MS = 60_000;
/** The items that expire within a history and that a replica depends on. Events stay, because the invariants read them. */
const EXPIRING = /^(CHANGES|SYNC|IDEMPOTENCY)#/;

export interface SimulatedTable {
  /** The number of restores before it. */
  number: number;
  db: RecordedDynamoDb;
}

type OnChange = (before: Item | undefined, after: Item | undefined, table: number) => void;

/** The table of the service, which a restore replaces with one that has an earlier state (infra/commands/restore.ts). */
export class Tables {
  current: SimulatedTable;
  private readonly world: World;
  private readonly onChange: OnChange;
  private readonly backups: Item[][] = [];
  private switchedAt = Number.NEGATIVE_INFINITY;

  constructor(world: World, onChange: OnChange) {
    this.world = world;
    this.onChange = onChange;
    this.current = this.create(0, []);
  }

  backUp(): void {
    this.backups.push([...this.current.db.items()]);
  }

  /** Returns the documents of the restored table, or `undefined` without a backup. */
  restore(): Item[] | undefined {
    const backup = this.world.pick(this.backups);
    if (!backup) return undefined;
    const { pk, sk } = LAYOUT_KEY;
    const epoch = nextEpoch(Number(this.current.db.get(pk, sk)?.epoch ?? 0), this.world.now);
    const items = backup.map((item) => (item.pk === pk ? { ...item, epoch } : item));
    this.current = this.create(this.current.number + 1, items);
    this.switchedAt = this.world.now;
    return items;
  }

  /** Whether an execution environment with this table can still serve requests. */
  isServed(table: SimulatedTable): boolean {
    return table === this.current || this.world.now < this.switchedAt + SWITCH_MS;
  }

  /** Deletes the items whose time to live has passed. DynamoDB deletes them at any later time. */
  expire(): void {
    const { db } = this.current;
    const seconds = this.world.now / 1000;
    for (const { pk, sk, expires } of [...db.items()])
      if (EXPIRING.test(String(pk)) && Number(expires) < seconds)
        db.execute({ name: 'Delete', input: { TableName: 'table', Key: { pk, sk } } });
  }

  private create(number: number, items: readonly Item[]): SimulatedTable {
    let isReady = false;
    const db = new RecordedDynamoDb({
      onChange: (before, after) => isReady && this.onChange(before, after, number),
      replicate: (apply) => (isReady ? this.world.after(this.world.pick(REPLICATION_MS), apply) : apply()),
    });
    db.put(items);
    isReady = true;
    return { number, db };
  }
}
