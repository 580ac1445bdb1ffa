import type * as v from 'valibot';

/** A path parameter, with its resource and its schema. */
export interface PathParameter {
  /** The name of the resource in a 404 response. */
  resource: string;
  /** Whether a client chooses the name, so that an invalid one results in 400 with its violations, and not in 404. */
  isChosen?: true;
  schema: v.GenericSchema<string>;
  description: string;
  example: string;
}
