import { isJsonObject, type Json } from '../json.ts';
import type { EventType } from './types.ts';

type Members = { [member: string]: Json };

// A list of invalid items can be long, so each item costs little. Members keep their order, so that an event has the bytes that were published.
const completeChange = (change: Members): Members => ({
  ...change,
  old_value: change.old_value ?? null,
  new_value: change.new_value ?? null,
});
const withValue = (side: Members): Members => ({ ...side, value: side.value ?? null });

/** How the published data of a type becomes that of the event. It can have any shape, because it is validated later. */
const COMPLETIONS: Readonly<Partial<Record<EventType, (data: Members) => Members>>> = {
  'document.changed': (data) => ({ ...data, ...eachOf(data, 'changes', completeChange) }),
  'sync.conflict': (data) => ({
    ...data,
    sync_id: data.sync_id ?? null,
    ...eachOf(data, 'conflicts', (conflict) => ({
      ...conflict,
      ...(isJsonObject(conflict.winner) && { winner: withValue(conflict.winner) }),
      ...(isJsonObject(conflict.loser) && { loser: withValue(conflict.loser) }),
    })),
  }),
  'sync.completed': (data) =>
    withoutNulls('patterns', 'pushed', 'pulled', 'conflicts')({ ...data, pattern: data.pattern ?? null }),
  'connection.lost': (data) => withoutNulls('document_key', 'user')(data),
};

/**
 * The data of an event, from the data that was published. An event contains its nullable members, and its optional members are absent
 * rather than `null`. Publishers can write both forms, because many serializers know only one of them.
 */
export const completed = (type: EventType, data: Members): Members => COMPLETIONS[type]?.(data) ?? data;

const withoutNulls =
  (...names: string[]) =>
  (data: Members): Members =>
    Object.fromEntries(Object.entries(data).filter(([name, value]) => value !== null || !names.includes(name)));

const eachOf = (data: Members, name: string, complete: (item: Members) => Members): Members => {
  const items = data[name];
  return Array.isArray(items) ? { [name]: items.map((item) => (isJsonObject(item) ? complete(item) : item)) } : {};
};
