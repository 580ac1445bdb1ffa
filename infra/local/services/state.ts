import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
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

/** As the last stack left it that was run with this directory. */
export const openState = (directory: string): State => ({
  tablePrefix: 'kept-',
  messages: new KeptMap(join(directory, 'messages.jsonl')),
  schedules: new KeptMap(join(directory, 'schedules.jsonl')),
  positions: new KeptMap(join(directory, 'positions.jsonl')),
  emails: new KeptMap(join(directory, 'emails.jsonl')),
});
