import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { KeptMap } from '../kept-map.ts';
import type { Schedule } from './scheduler.ts';
import type { SentMail } from './ses.ts';
import type { KeptMessage } from './sqs.ts';

/** What the services know that is not in the database. */
export interface State {
  /** Tells the tables of several stacks on one database apart. */
  tablePrefix: string;
  /** By message id, in the order in which they were sent. */
  messages: Map<string, KeptMessage>;
  /** By group and name. */
  schedules: Map<string, Schedule>;
  /** By shard of the table's stream, the sequence number of the last record that was consumed. */
  positions: Map<string, string>;
  /** By id, the oldest first. */
  emails: Map<string, SentMail>;
}

/** Of a new stack: nothing. */
export const createState = (tablePrefix = `local-${randomUUID().slice(0, 8)}-`): State => ({
  tablePrefix,
  messages: new Map(),
  schedules: new Map(),
  positions: new Map(),
  emails: new Map(),
});

/** The state as the last stack with this directory left it. */
export function openState(directory: string): State {
  const file = new DatabaseSync(join(directory, 'services.db'));
  // A killed process loses nothing. A power failure can take the last changes.
  file.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  return {
    tablePrefix: 'kept-',
    messages: new KeptMap(file, 'messages'),
    schedules: new KeptMap(file, 'schedules'),
    positions: new KeptMap(file, 'positions'),
    emails: new KeptMap(file, 'emails'),
  };
}
