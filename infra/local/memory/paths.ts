import { InvalidRequest } from '../models/invalid-request.ts';

/** An item in the notation of the document client. */
export type Item = Record<string, unknown>;

export interface Names {
  ExpressionAttributeNames?: Record<string, string> | undefined;
  ExpressionAttributeValues?: Record<string, unknown> | undefined;
}

export const nameOf = (token: string, { ExpressionAttributeNames }: Names): string => {
  if (!token.startsWith('#')) return token;
  const name = ExpressionAttributeNames?.[token];
  if (name === undefined) throw new InvalidRequest(`The name ${token} is not defined`);
  return name;
};
export const valueNamed = (token: string, { ExpressionAttributeValues }: Names): unknown => {
  const value = ExpressionAttributeValues?.[token];
  if (value === undefined) throw new InvalidRequest(`The value ${token} is not defined`);
  return value;
};

/** The names in a document path: a member, or the entry of a map, such as `#map.#entry`. */
const namesIn = (path: string, names: Names): string[] => path.split('.').map((token) => nameOf(token, names));

export const valueAt = (item: Item, path: string, names: Names): unknown =>
  namesIn(path, names).reduce<unknown>((value, name) => (value as Item | undefined)?.[name], item);

/** A copy of an item, with copies of the maps that an update with these paths changes. Stored items never change. */
export function copyFor(item: Item, paths: readonly string[], names: Names): Item {
  const copy = { ...item };
  const maps = paths.flatMap((path) => namesIn(path, names).slice(0, -1));
  for (const name of new Set(maps)) {
    const map = item[name];
    if (typeof map !== 'object' || map === null || Array.isArray(map))
      throw new InvalidRequest('The document path provided in the update expression is invalid for update');
    copy[name] = { ...map };
  }
  return copy;
}

/** Sets a member, or an entry of a map. */
export function setAt(item: Item, path: string, names: Names, value: unknown): void {
  const [map, name] = placeOf(item, path, names);
  map[name] = value;
}

export function removeAt(item: Item, path: string, names: Names): void {
  const [map, name] = placeOf(item, path, names);
  delete map[name];
}

function placeOf(item: Item, path: string, names: Names): [map: Item, name: string] {
  const [first = '', entry] = namesIn(path, names);
  return entry === undefined ? [item, first] : [item[first] as Item, entry];
}
