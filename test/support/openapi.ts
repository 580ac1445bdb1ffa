import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { openApiDocument } from '../../lib/api/openapi/openapi-document.ts';
import { operationsByPath } from '../../lib/api/operations.ts';

/** The OpenAPI document with closed objects, so that an undocumented member is a violation. The data of events stays open. */
export const openApi = closed(openApiDocument('https://api.example.com'));

function closed<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(closed) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name.endsWith('Data') ? member : closed(member)]),
  );
  const isOpen =
    'properties' in value && (value as { type?: unknown }).type === 'object' && !('additionalProperties' in value);
  return { ...members, ...(isOpen && { additionalProperties: false }) } as Value;
}

/** Validates JSON Schemas, with the schemas of the document as `openapi`. */
export const ajv = new Ajv2020({ strict: false, allErrors: true });
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

/** The paths of operations, those with the fewest parameters first. */
const patterns = [...operationsByPath.keys()]
  .sort((a, b) => a.split('{').length - b.split('{').length)
  .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }));

/** Returns the path of the operation for a request. */
export const pathOf = (route: string): string | undefined => patterns.find(({ pattern }) => pattern.test(route))?.path;
