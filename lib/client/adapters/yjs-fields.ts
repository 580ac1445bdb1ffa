/*
 * The default representation of the shared types of Yjs 13. Types are told apart by their methods, because an application can have two
 * instances of Yjs, one of each module system, and then no class is the same.
 */

/** A shared type. Its content is a list of items, its entries are the last items of a map. */
interface SharedType {
  _map: Map<string, Item>;
  _start: Item | null;
}
interface Item {
  deleted: boolean;
  countable: boolean;
  length: number;
  right: Item | null;
  content: { getContent(): unknown[]; getRef(): number };
}
interface TextType extends SharedType {
  toDelta(): { insert: unknown; attributes?: Record<string, unknown> }[];
}
interface ElementType extends SharedType {
  nodeName: string;
}

/** The documents that have fields. */
export interface SharedDocument {
  share: ReadonlyMap<string, unknown>;
}

const isShared = (value: object): value is SharedType => '_map' in value && '_start' in value && 'observeDeep' in value;
const isText = (type: object): type is TextType => 'toDelta' in type;
const isElement = (type: object): type is ElementType => 'nodeName' in type;
const isFragment = (type: object): boolean => 'querySelector' in type && !isElement(type);
const isMap = (type: object): boolean => 'entries' in type && 'delete' in type && !('toArray' in type);
const isList = (type: object): boolean => 'unshift' in type;

/** The numbers of kinds of content in the encoding of Yjs. */
const TEXT = 4;
const EMBED = 5;
const FORMAT = 6;

/**
 * Returns the fields of a document: one for each entry of a map, called `MAP.ENTRY`, and one for each other shared type that is not empty.
 * A server does not know the kind of an empty one. Awareness is no part of a document. `plainValue` represents the values.
 */
export function fieldsOfDocument({ share }: SharedDocument): Record<string, unknown> {
  const fields: [string, unknown][] = [];
  for (const [name, type] of share) {
    if (typeof type !== 'object' || type === null || !isShared(type)) continue;
    if (isMapLike(type)) for (const [entry, value] of entriesOf(type)) fields.push([`${name}.${entry}`, value]);
    else if (itemsOf(type).length > 0) fields.push([name, type]);
  }
  return Object.fromEntries(fields);
}

export const isEmpty = (document: SharedDocument): boolean => Object.keys(fieldsOfDocument(document)).length === 0;

/**
 * Replaces a shared type by plain values that can contain other shared types: a map by an object, a list by an array, a text by its
 * characters, and a fragment by the JSON of ProseMirror and Tiptap. Other values stay as they are.
 */
export function plainValue(value: object): unknown {
  if (!isShared(value)) return isDocument(value) ? null : undefined;
  if (isElement(value)) return nodeOf(value);
  if (isFragment(value)) return { type: 'doc', content: contentOf(value) };
  if (isText(value)) return textOf(value);
  if (isMapLike(value)) return Object.fromEntries(entriesOf(value));
  if (isList(value)) return childrenOf(value);
  return untyped(value);
}

/** A document inside a document has its own name and its own fields. */
const isDocument = (value: object): boolean => 'share' in value && 'clientID' in value;
const isKnown = (type: object): boolean => [isText, isFragment, isMap, isList].some((is) => is(type));
/** A root that the server has loaded but not defined has no type, only content. */
const isMapLike = (type: SharedType): boolean =>
  isMap(type) || (!isKnown(type) && type._start === null && type._map.size > 0);

function untyped(type: SharedType): unknown {
  const items = itemsOf(type);
  if (items.some(({ content }) => [TEXT, EMBED, FORMAT].includes(content.getRef()))) return textOf(type);
  const children = childrenOf(type);
  const isMarkup =
    children.length > 0 && children.every((child) => isObject(child) && isShared(child) && isNode(child));
  return isMarkup ? { type: 'doc', content: contentOf(type) } : children;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
/** A text in a list of markup has attributes, unlike one in an array. */
const isNode = (type: SharedType): boolean => isElement(type) || (isText(type) && 'nextSibling' in type);

function itemsOf(type: SharedType): Item[] {
  const items: Item[] = [];
  for (let item = type._start; item; item = item.right) if (!item.deleted) items.push(item);
  return items;
}

const childrenOf = (type: SharedType): unknown[] =>
  itemsOf(type).flatMap((item) => (item.countable ? item.content.getContent() : []));

const entriesOf = (type: SharedType): [string, unknown][] =>
  [...type._map]
    .filter(([, item]) => !item.deleted)
    .map(([name, item]) => [name, item.content.getContent()[item.length - 1]]);

/** The characters of a text without its formats and embedded objects. */
const textOf = (type: SharedType): string =>
  itemsOf(type)
    .flatMap(({ content }) => (content.getRef() === TEXT ? content.getContent() : []))
    .join('');

/** The nodes in a fragment or an element. A text with formats is one node for each part with the same marks. */
function contentOf(type: SharedType): unknown[] {
  return childrenOf(type).flatMap((child) => (isObject(child) && isText(child) ? textNodes(child) : [child]));
}

function nodeOf(element: ElementType): object {
  const attributes = entriesOf(element).filter(([, value]) => value !== undefined && value !== null);
  const content = contentOf(element);
  return {
    type: element.nodeName,
    ...(attributes.length > 0 && { attrs: Object.fromEntries(attributes) }),
    ...(content.length > 0 && { content }),
  };
}

const textNodes = (text: TextType): object[] =>
  text.toDelta().map(({ insert, attributes = {} }) => {
    const marks = Object.entries(attributes).map(([name, attrs]) => ({
      type: name.replace(/--[\w+/=]{8}$/, ''), // marks that can overlap have a hash in their names
      ...(isObject(attrs) && Object.keys(attrs).length > 0 && { attrs }),
    }));
    return { type: 'text', text: insert, ...(marks.length > 0 && { marks }) };
  });
