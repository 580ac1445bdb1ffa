import type * as v from 'valibot';
import { chosenEnvironment, creating, type Operation } from '../operation.ts';
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
    ...(callers !== 'anyone' && chosenEnvironment),
  };
  for (const [name, schema] of Object.entries(ofQuery)) {
    parameters.push(parameter('query', name, schema as v.GenericSchema));
  }
  for (const [name, schema] of Object.entries({ ...headers, ...(creates && creating) })) {
    parameters.push(parameter('header', name, schema as v.GenericSchema));
  }
  return parameters;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
  example?: string;
}

function parameter(place: 'query' | 'header', name: string, valibotSchema: v.GenericSchema): Parameter {
  const { description = '', ...schema } = jsonSchemaOf(valibotSchema);
  return { name, in: place, required: false, description: String(description), schema };
}
