import * as v from 'valibot';
import { described, integerText, oneOf } from '../schema.ts';
import { ENVIRONMENTS } from '../space.ts';
import type { PathParameter } from './path-parameter.ts';
import type { ProblemCode } from './problems.ts';
import type { Route, Routes } from './route.ts';

export const KIB = 1024;
/** Bytes of the largest body of any operation. */
export const MAX_BODY_BYTES = 1024 * KIB;

const MAX_PAGE = 100;
export const DEFAULT_PAGE = 50;

/** One HTTP operation. Routes, dispatch, policies, documentation and clients are derived from it. */
export interface Operation extends Route {
  summary: string;
  /** The schema of each path parameter. An invalid id results in 404. */
  parameters: Readonly<Record<string, PathParameter>>;
  query: v.ObjectEntries;
  /** Headers in addition to those of all operations. */
  headers: v.ObjectEntries;
  /** The schema of the body, for an operation with a body. */
  body?: v.GenericSchema;
  /** Bytes of the body. */
  maxBodyBytes: number;
  /** The successful responses by status. The first one is the default. `null` means no body. */
  responses: Readonly<Record<number, v.GenericSchema | null>>;
  /** Headers of a success in addition to those of all operations. */
  responseHeaders: readonly 'ETag'[];
  /** The `Location` of a 201 response (RFC 9110 §15.3.2). Its parameter is a member of the response. */
  location?: `/${string}`;
  /** Error codes in addition to those that follow from the other members. */
  problems: readonly ProblemCode[];
  /**
   * Whether the operation publishes events at the request of a client. While the project is over its budget of deliveries, it
   * returns 429. The name of a list in the body: only if the list is not empty.
   */
  publishes: boolean | string;
  /** Whether the operation takes effect once for each `Idempotency-Key`. */
  idempotencyKey: boolean;
  /** Members of the response that are shown only once and omitted from a replay. */
  secrets: readonly string[];
}

/** A successful response. `json` is a serialized body that must not change. */
export interface OperationResponse<Body = unknown> {
  body?: Body;
  json?: string;
  /** Default: the operation's usual status. */
  status?: number;
  headers?: Record<string, string>;
  /** Whether a repeated run of the request returns the same body, so that the idempotency record does not contain it. */
  isRepeatable?: boolean;
}

/** A table of operations by their ids. */
export type OperationTable = Readonly<Record<string, Operation>>;

const DEFAULTS = {
  parameters: {},
  query: {},
  headers: {},
  maxBodyBytes: 16 * KIB,
  responseHeaders: [],
  problems: [],
  publishes: false,
  idempotencyKey: false,
  secrets: [],
} as const satisfies Partial<Operation>;
type Defaults = typeof DEFAULTS;

type GivenOperation = Omit<Operation, keyof Defaults> & Partial<Pick<Operation, keyof Defaults>>;

/** Adds the defaults of an operation. */
export const operation = <const Given extends GivenOperation>(given: Given) =>
  ({ ...DEFAULTS, ...given }) as Given & Omit<Defaults, keyof Given>;

type GivenDescription = Omit<GivenOperation, keyof Route>;
type Described<Table extends Routes, Given extends Readonly<Record<keyof Table, GivenDescription>>> = {
  readonly [Id in keyof Table]: Table[Id] & Given[Id] & Omit<Defaults, keyof Given[Id]>;
};

/** The operations of some routes. Each route has one description. */
export function operationsOf<
  const Table extends Routes,
  const Given extends Readonly<Record<keyof Table, GivenDescription>>,
>(routes: Table, descriptions: Given & Readonly<Record<Exclude<keyof Given, keyof Table>, never>>) {
  const entries = Object.entries(routes).map(([id, route]) => [
    id,
    operation({ ...route, ...(descriptions[id] as GivenDescription) }),
  ]);
  return Object.fromEntries(entries) as Described<Table, Given>;
}

/** Whether a request publishes events. */
export function isPublishing({ publishes }: Pick<Operation, 'publishes'>, body: unknown): boolean {
  if (typeof publishes === 'boolean') return publishes;
  const list = (body as Readonly<Record<string, unknown>>)[publishes];
  return Array.isArray(list) && list.length > 0;
}

/** The header of every operation that takes effect once for each key. */
export const idempotencyHeader = {
  'Idempotency-Key': v.optional(
    described(
      v.pipe(v.string(), v.regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters')),
      'Makes it safe to retry the request. For 24 hours, a repeated request returns the first response.',
    ),
  ),
};

/** A cursor: base64url of at least a nonce and a tag (http/cursor.ts). Any other text is an invalid cursor, not a violation. */
export const CursorText = v.pipe(
  v.string('must be a string'),
  v.metadata({ jsonSchema: { minLength: 38, pattern: '^[A-Za-z0-9_-]*$' } }),
);

/** Query parameters of every list. */
export const pageQuery = {
  limit: v.optional(described(integerText(1, MAX_PAGE), `Entries per page. The default is ${DEFAULT_PAGE}.`)),
  cursor: v.optional(described(CursorText, '`next_cursor` of the previous page.')),
};

/** The query parameter of every operation with a credential. */
export const chosenEnvironment = {
  environment: v.optional(
    described(
      oneOf(ENVIRONMENTS),
      'The environment of a request with an admin key. Other credentials have a fixed environment.',
    ),
  ),
};

const newListOf = <const Item extends v.GenericSchema>(item: Item) =>
  v.object({
    data: described(v.array(item), 'The entries of this page.'),
    next_cursor: described(v.nullable(v.string()), 'The `cursor` of the next page; `null` on the last page.'),
  });

const lists = new Map<v.GenericSchema, v.GenericSchema>();

/** The schema of a page of a list. It is cached by entry, so that it has one name. */
export function listOf<const Item extends v.GenericSchema>(item: Item): ReturnType<typeof newListOf<Item>> {
  const list = lists.get(item) ?? newListOf(item);
  lists.set(item, list);
  return list as ReturnType<typeof newListOf<Item>>;
}
