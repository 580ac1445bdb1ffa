import * as v from 'valibot';
import type { KeyType, Permission } from '../credentials.ts';
import { described, integerText, oneOf } from '../schema.ts';
import { ENVIRONMENTS } from '../space.ts';
import type { PathParameter } from './path-parameter.ts';
import type { ProblemCode } from './problems.ts';

/** The functions behind the API, each a file in functions/. */
export type ApiFunction = 'keys' | 'tokens' | 'project' | 'webhooks' | 'events' | 'documents' | 'dashboard';

/** The type of a caller: the type of its key, or a scoped token. */
export type CallerType = KeyType | 'token';

export const KIB = 1024;
/** Bytes of the largest body of any operation. */
export const MAX_BODY_BYTES = 1024 * KIB;

const MAX_PAGE = 100;
export const DEFAULT_PAGE = 50;

/** One HTTP operation. Routes, dispatch, policies, documentation and clients are derived from it. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path in the syntax of API Gateway, in which `{name}` is a parameter of one segment. */
  path: `/${string}`;
  function: ApiFunction;
  summary: string;
  /** `anyone`: the operation needs no credential and never reaches the authorizer. */
  callers: readonly CallerType[] | 'anyone';
  /** A scoped token with one of them can call the operation. The function checks the documents. */
  permissions: readonly Permission[];
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

/** A table of operations by their ids. */
export type Operations = Readonly<Record<string, Operation>>;

const DEFAULTS = {
  permissions: [],
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

export const ADMIN = ['admin'] as const;
export const WRITERS = ['admin', 'live', 'test'] as const;
export const READERS = ['admin', 'live', 'test', 'read', 'token'] as const;
export const WRITERS_AND_TOKENS = [...WRITERS, 'token'] as const;

/** Whether callers of a type may call an operation with their credential. */
export const isFor = ({ callers }: Pick<Operation, 'callers'>, type: CallerType): boolean =>
  callers !== 'anyone' && callers.includes(type);

/** Every GET also supports HEAD, which returns no content (RFC 9110 §9.3.2). */
export const methodsOf = ({ method }: Pick<Operation, 'method'>): string[] =>
  method === 'GET' ? ['GET', 'HEAD'] : [method];

/** Finds an operation and its id by method and path, because every request looks one up. */
export function byRoute<Each extends Pick<Operation, 'method' | 'path'>>(operations: Readonly<Record<string, Each>>) {
  const found = new Map<string, [id: string, operation: Each]>();
  for (const [id, operation] of Object.entries(operations))
    for (const method of methodsOf(operation)) found.set(`${method} ${operation.path}`, [id, operation]);
  return (method: string, resource: string) => found.get(`${method} ${resource}`);
}

/** Whether a request publishes events. */
export function isPublishing({ publishes }: Pick<Operation, 'publishes'>, body: unknown): boolean {
  if (typeof publishes === 'boolean') return publishes;
  const list = (body as Readonly<Record<string, unknown>>)[publishes];
  return Array.isArray(list) && list.length > 0;
}

/**
 * Whether pages of other origins can call an operation. They can call the operations of scoped tokens, which frontends use. Every
 * origin can, because browsers do not send the credential automatically (Fetch Standard, "CORS protocol and credentials").
 */
export const allowsCrossOrigin = (operation: Pick<Operation, 'callers'>): boolean => isFor(operation, 'token');

const listed = (words: readonly string[]) => new Intl.ListFormat('en', { type: 'disjunction' }).format(words);

/** The credentials that can call an operation, in words. */
export function callersText({ callers, permissions }: Pick<Operation, 'callers' | 'permissions'>): string {
  if (callers === 'anyone') return 'any credential';
  const types = callers.filter((caller) => caller !== 'token');
  const keys = `an ${listed(types)} key`; // the first type is admin
  return callers.includes('token') ? `${keys}, or a scoped token with ${listed(permissions)}` : keys;
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

/** Query parameters of every list. */
export const page = {
  limit: v.optional(described(integerText(1, MAX_PAGE), `Entries per page. The default is ${DEFAULT_PAGE}.`)),
  cursor: v.optional(described(v.string(), '`next_cursor` of the previous page.')),
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
