import { type JsonSchema, refTo } from './schemas.ts';

type Named = Readonly<Record<string, JsonSchema>>;

/** A copy in which objects can have more members: `additionalProperties: false` is removed everywhere. */
export function opened<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(opened) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .filter(([name, member]) => name !== 'additionalProperties' || member !== false)
    .map(([name, member]) => [name, opened(member)]);
  return Object.fromEntries(members);
}

/** The names of the schemas that a value refers to, directly or through other schemas. */
function namesIn(value: unknown, schemas: Named, names = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return names;
  for (const member of Object.values(value)) {
    const name = Object.keys(schemas).find((each) => member === refTo(each)); // of `$ref`, or in the mapping of a discriminator
    if (name !== undefined && !names.has(name)) namesIn(schemas[name], schemas, names.add(name));
    namesIn(member, schemas, names);
  }
  return names;
}

interface Operation {
  requestBody?: unknown;
  responses?: unknown;
}

/**
 * The schemas that customers rely on can grow: responses and events are open, so that a new member breaks no generated client and
 * no receiver that validates events. Requests stay closed, because the service rejects unknown members.
 */
export function withOpenResponses<
  Document extends {
    paths: Record<string, Record<string, unknown>>;
    webhooks: object;
    components: { schemas: Record<string, JsonSchema>; responses: object };
  },
>(document: Document): Document {
  const { schemas } = document.components;
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path) as Operation[]);
  const closed = namesIn(
    operations.map(({ requestBody }) => requestBody),
    schemas,
  );
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods as Record<string, Operation>).map(([method, operation]) => [
        method,
        { ...operation, responses: opened(operation.responses) },
      ]),
    ),
  ]);
  return {
    ...document,
    paths: Object.fromEntries(paths),
    webhooks: opened(document.webhooks),
    components: {
      ...document.components,
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [name, closed.has(name) ? schema : opened(schema)]),
      ),
      responses: opened(document.components.responses),
    },
  };
}
