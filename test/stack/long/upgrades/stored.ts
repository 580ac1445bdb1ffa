import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { State } from '../../../../infra/local/services/state.ts';
import { databaseEndpoint } from '../../../support/database.ts';
import { itemsOf, writeItems } from '../../../support/items.ts';
import type { Endpoints, Work } from './work.ts';

type Attributes = Record<string, AttributeValue>;

/** Everything that a release stored in the middle of its work. */
export interface Stored {
  at: number;
  work: Work;
  items: Attributes[];
  messages: [string, State['messages'] extends Map<string, infer Message> ? Message : never][];
  schedules: [string, State['schedules'] extends Map<string, infer Schedule> ? Schedule : never][];
}

export const tableOf = ({ tablePrefix }: State) => `${tablePrefix}Table`;

export async function readStored(state: State, work: Work, at: number): Promise<Stored> {
  const items = await itemsOf(databaseEndpoint(), tableOf(state));
  return { at, work, items, messages: [...state.messages], schedules: [...state.schedules] };
}

/** Writes the items to the table of a state. */
export const restoreItems = ({ items }: Pick<Stored, 'items'>, state: State): Promise<void> =>
  writeItems(databaseEndpoint(), tableOf(state), items);

/** Adds the messages and schedules, which are due. Their items must exist already. */
export function addWork({ messages, schedules }: Pick<Stored, 'messages' | 'schedules'>, state: State): void {
  for (const [id, message] of messages) state.messages.set(id, message);
  for (const [name, schedule] of schedules) state.schedules.set(name, schedule);
  makeDue(state);
}

/** Ends all delays of messages and schedules. */
export function makeDue({ messages, schedules }: State): void {
  for (const [id, message] of messages) messages.set(id, { ...message, visibleAt: 0 });
  for (const [name, schedule] of schedules)
    schedules.set(name, { ...schedule, ScheduleExpression: 'at(2000-01-01T00:00:00)' });
}

/** The messages in queues and schedules. */
export const waitingMessages = ({ messages, schedules }: Pick<State, 'messages' | 'schedules'>) => [
  ...[...messages.values()].map(({ queue, body }) => ({ queue, message: JSON.parse(body) })),
  ...[...schedules.values()].map(({ Target }) => ({
    queue: 'schedule',
    message: JSON.parse(JSON.parse(Target.Input).MessageBody),
  })),
];

/** Fixtures name the endpoints, because their ports differ. */
export function withPlaceholders(text: string, endpoints: Endpoints): string {
  return Object.entries(endpoints).reduce((all, [name, { url }]) => all.replaceAll(url, `{${name}}`), text);
}

export function withEndpoints(text: string, endpoints: Endpoints): string {
  return Object.entries(endpoints).reduce((all, [name, { url }]) => all.replaceAll(`{${name}}`, url), text);
}

/** The DynamoDB types of the attributes of each kind of item, and the JSON types of the members of each kind of message. */
export function shapesOf({ items, messages, schedules }: Omit<Stored, 'at' | 'work'>): Record<string, string[]> {
  const shapes = new Map<string, Set<string>>();
  const add = (kind: string, members: [string, string][]) => {
    const shape = shapes.get(kind) ?? new Set();
    shapes.set(kind, shape);
    for (const [name, type] of members) shape.add(`${name}: ${type}`);
  };
  const membersOf = (value: object): [string, string][] =>
    Object.entries(value).flatMap(([name, member]) => [
      [name, typeof member],
      ...(typeof member === 'object' && member !== null
        ? membersOf(member).map(([inner, type]): [string, string] => [`${name}.${inner}`, type])
        : []),
    ]);
  for (const item of items) {
    const types = Object.entries(item).map(([name, value]): [string, string] => [name, Object.keys(value)[0] ?? '']);
    add(`item ${String(item.pk?.S).split('#')[0]}`, types);
  }
  for (const { queue, message } of waitingMessages({ messages: new Map(messages), schedules: new Map(schedules) }))
    add(`message ${queue}${'recover' in message ? ' recover' : ''}`, membersOf(message));
  return Object.fromEntries([...shapes].sort().map(([kind, members]) => [kind, [...members].sort()]));
}
