import type { Fields, Model, Write } from './model.ts';
import type { Token } from './requests.ts';
import type { World } from './world.ts';

export const DOCUMENTS = ['one', 'two', 'list:a', 'other:a'] as const;
const ON_CONFLICT = ['last_write_wins', 'keep_server', 'reject'] as const;
const FIELDS = ['a', 'b', 'c'] as const;

/** Patterns of replicas. The walk of the last one contains all documents. */
const PATTERNS = [['*'], ['one'], ['one', 'list:*'], ['*:a', 'one', 'two']] as const;
const WIDE = 3;

/** More fields than a document can have. */
const TOO_MANY = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}`, 1]));
/** Entries of a queue that a client never removes, although the service rejects them. */
const BAD_ENTRIES: readonly unknown[] = [
  { op: 'patch', document_key: 'a name', base_revision: 0, fields: { a: 1 } },
  { op: 'put', document_key: 'one', base_revision: 0, fields: TOO_MANY },
  { op: 'rename', document_key: 'one', base_revision: 0 },
  null,
];

/** A device or a server with copies of documents, and its client library. */
export interface Replica {
  id: string;
  patterns: readonly string[];
  /** Whether it sends the checkpoint of its last cycle, in place of the revisions that it has. */
  hasCheckpoints: boolean;
  checkpoint: string | undefined;
  /** The last known state of each document. `null` for a deleted document. */
  copy: Map<string, { revision: number; fields: Fields | null }>;
  /** The changes that were not pushed yet. Those of one document have one base. */
  queue: Write[];
  badEntry: unknown;
  /** The credential. Without a token, it is a key. */
  token: Token | undefined;
  isSyncing: boolean;
}

/** Creates a replica. With `isWide`, the walks of its cycles contain all documents, although it reads few of them. */
export function createReplica(world: World, id: string, isWide: boolean): Replica {
  const user = world.pick([undefined, undefined, id]);
  return {
    id,
    patterns: isWide ? PATTERNS[WIDE] : world.pick(PATTERNS),
    hasCheckpoints: isWide || world.chance(0.5),
    checkpoint: undefined,
    copy: new Map(),
    queue: [],
    badEntry: world.chance(0.2) ? world.pick(BAD_ENTRIES) : undefined,
    token: user === undefined ? undefined : tokenFor(`tok_${id}`, user),
    isSyncing: false,
  };
}

/** A token. A cycle belongs to its user, or to the token itself if it has none. */
export const tokenFor = (tokenId: string, user: string | undefined): Token => ({
  tokenId,
  documents: ['*'],
  permissions: ['read', 'write'],
  ...(user !== undefined && { user }),
});

/** Adds several changes of one document, as a person makes them without a connection. */
export function edit({ copy, queue }: Replica, world: World, model: Model): void {
  const document_key = world.pick(DOCUMENTS);
  const queued = queue.find((write) => write.document_key === document_key);
  const base_revision = queued?.base_revision ?? copy.get(document_key)?.revision ?? 0;
  for (let count = world.pick([1, 1, 2, 4]); count > 0; count--)
    queue.push({ document_key, base_revision, ...changeOf(world, model) });
}

export function changeOf(world: World, model: Model): Omit<Write, 'document_key'> {
  const on_conflict = world.pick(ON_CONFLICT);
  const op = world.pick(['put', 'patch', 'patch', 'delete'] as const);
  return op === 'delete' ? { op, on_conflict } : { op, on_conflict, fields: fieldsOf(world, model) };
}

/** Several writers set one of few values, or a value that no other write sets. */
function fieldsOf(world: World, model: Model): Fields {
  const value = () => (world.chance(0.7) ? model.newValue() : world.pick([1, 2, null]));
  const names = world.chance(0.7) ? [world.pick(FIELDS)] : FIELDS;
  return Object.fromEntries(names.map((name) => [name, value()]));
}
