import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { strictDocument } from '../../../lib/http/openapi/openapi-document.ts';

export const openApi = strictDocument('https://api.example.com');

const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormatsModule as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ ...openApi, $id: 'openapi' });

/** Compiles the schema at a JSON Pointer of the document (RFC 6901). */
function validatorAt(...place: (string | number)[]): ValidateFunction {
  const pointer = place.map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1')));
  const validate = ajv.getSchema(`openapi#/${pointer.join('/')}`);
  if (!validate) throw new Error(`The OpenAPI document has no schema at ${place.join(' ')}`);
  return validate;
}

/** Returns the violations of a value as messages. */
export function violationsOf(value: unknown, ...place: (string | number)[]): string[] {
  const validate = validatorAt(...place);
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
