import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { openExclusively } from '../exclusive-file.ts';
import { KeptMap } from '../kept-map.ts';
import type { Schedule } from './scheduler.ts';
import type { SentEmail } from './ses.ts';
import type { KeptMessage } from './sqs.ts';

/** The state of the services outside the database. */
export interface State {
  /** Separates the tables of several stacks on one database. */
  tablePrefix: string;
  /** Messages by id, in the order in which they were sent. */
  messages: Map<string, KeptMessage>;
  /** Schedules by group and name. */
  schedules: Map<string, Schedule>;
  /** The sequence number of the last consumed record, by function and shard of the table stream. */
  positions: Map<string, string>;
  /** Emails by id, oldest first. */
  emails: Map<string, SentEmail>;
}

/** Creates the empty state of a new stack. */
export const createState = (tablePrefix = `local-${randomUUID().slice(0, 8)}-`): State => ({
  tablePrefix,
  messages: new Map(),
  schedules: new Map(),
  positions: new Map(),
  emails: new Map(),
});

/** Opens the state that the last stack stored in this directory. Returns `undefined` if another process uses it. */
export function openState(directory: string): State | undefined {
  const file = openExclusively(join(directory, 'services.db'));
  if (!file) return undefined;
  // A killed process loses no data. A power failure can lose the last changes.
  file.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  return {
    tablePrefix: 'kept-',
    messages: new KeptMap(file, 'messages'),
    schedules: new KeptMap(file, 'schedules'),
    positions: new KeptMap(file, 'positions'),
    emails: new KeptMap(file, 'emails'),
  };
}
