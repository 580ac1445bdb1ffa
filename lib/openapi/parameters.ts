import * as v from 'valibot';
import { creating, type Operation } from '../api/operation.ts';
import { oneOf } from '../schema.ts';
import { ENVIRONMENTS } from '../space.ts';
import { type JsonSchema, jsonSchemaOf } from './schemas.ts';

/** The parameters of an operation: those in its path, its query, its headers. */
export function parametersOf({ callers, parameters: ofPath, query, headers, creates }: Operation): Parameter[] {
  const parameters: Parameter[] = Object.entries(ofPath).map(([name, { schema, description, example }]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: jsonSchemaOf(schema),
    example,
  }));
  const ofQuery = {
    ...query,
    ...(callers !== 'anyone' && { environment: v.optional(oneOf(ENVIRONMENTS)) }),
  };
  for (const [name, schema] of Object.entries(ofQuery)) {
    parameters.push(parameter('query', name, jsonSchemaOf(schema as v.GenericSchema)));
  }
  for (const [name, schema] of Object.entries({ ...headers, ...(creates && creating) })) {
    parameters.push(parameter('header', name, jsonSchemaOf(schema as v.GenericSchema)));
  }
  return parameters;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
  example?: string;
}

const PARAMETERS: Record<string, string> = {
  environment: 'Which data space an admin key means; other credentials have one of their own.',
  limit: 'Entries in a page; 50 if absent.',
  cursor: '`next_cursor` of the page before.',
  status: 'Only deliveries of this status.',
  since: 'Only what happened at this time or later.',
  prefix: 'Only this document and those whose keys go on with `:` after it.',
  'Idempotency-Key': 'Makes a repetition of the request within 24 hours answer what the first one did.',
  'If-Match': 'Only if the document has this ETag; `*`: if it exists.',
  'If-None-Match': 'Only if the document does not have this ETag; `*`: if it does not exist.',
  'X-Node-Id': 'Names the replica that writes; the credential, if absent.',
};

const parameter = (place: 'query' | 'header', name: string, schema: JsonSchema): Parameter => ({
  name,
  in: place,
  required: false,
  description: PARAMETERS[name] ?? '',
  schema,
});
