import * as v from 'valibot';

/**
 * A member that a request can omit. `null` means the same, because many serializers write it for an absent value. If the schema
 * accepts `null`, it has its own meaning.
 */
export function optional<const Schema extends v.GenericSchema>(schema: Schema) {
  const member =
    schema.type === 'nullable'
      ? v.optional(schema)
      : v.pipe(
          v.nullish(schema),
          v.transform((value) => value ?? undefined),
        );
  return member as unknown as v.OptionalSchema<
    v.GenericSchema<v.InferInput<Schema> | null, v.InferOutput<Schema>>,
    undefined
  >;
}

/** The same members, all optional. */
export const optionalMembers = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  Object.fromEntries(Object.entries(entries).map(([name, schema]) => [name, optional(schema as v.GenericSchema)])) as {
    [Name in keyof Entries]: Entries[Name] extends v.GenericSchema ? ReturnType<typeof optional<Entries[Name]>> : never;
  };
