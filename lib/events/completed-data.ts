import { isJsonObject, type Json } from '../json.ts';
import type { EventType } from './types.ts';

type Members = { [member: string]: Json };

/** How the published data of a type becomes that of the event. It can have any shape, because it is validated later. */
const COMPLETIONS: Readonly<Partial<Record<EventType, (data: Members) => Members>>> = {
  'document.changed': (data) => ({ ...data, ...eachOf(data, 'changes', withNulls('old_value', 'new_value')) }),
  'sync.conflict': (data) => ({
    ...withNulls('sync_id')(data),
    ...eachOf(data, 'conflicts', (conflict) => ({
      ...conflict,
      ...memberOf(conflict, 'winner', withNulls('value')),
      ...memberOf(conflict, 'loser', withNulls('value')),
    })),
  }),
  'sync.completed': (data) => withoutNulls('patterns', 'pushed', 'pulled', 'conflicts')(withNulls('pattern')(data)),
  'connection.lost': (data) => withoutNulls('document_key', 'user')(data),
};

/**
 * The data of an event, from the data that was published. An event contains its nullable members, and its optional members are absent
 * rather than `null`. Publishers can write both forms, because many serializers know only one of them.
 */
export const completed = (type: EventType, data: Members): Members => COMPLETIONS[type]?.(data) ?? data;

const withNulls =
  (...names: string[]) =>
  (data: Members): Members => ({
    ...data,
    ...Object.fromEntries(names.filter((name) => !Object.hasOwn(data, name)).map((name) => [name, null])),
  });

const withoutNulls =
  (...names: string[]) =>
  (data: Members): Members =>
    Object.fromEntries(Object.entries(data).filter(([name, value]) => value !== null || !names.includes(name)));

const memberOf = (data: Members, name: string, complete: (member: Members) => Members): Members => {
  const member = data[name];
  return isJsonObject(member) ? { [name]: complete(member) } : {};
};

const eachOf = (data: Members, name: string, complete: (item: Members) => Members): Members => {
  const items = data[name];
  return Array.isArray(items) ? { [name]: items.map((item) => (isJsonObject(item) ? complete(item) : item)) } : {};
};
