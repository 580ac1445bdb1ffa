import { readFileSync } from 'node:fs';
import { InvalidRequest } from './invalid-request.ts';
import { type ModelViolation, type Shapes, ShapeValidator } from './shapes.ts';

interface Model {
  apiVersion: string;
  /** The input shape of each operation. */
  operations: Readonly<Record<string, string>>;
  shapes: Shapes;
}

interface ServiceModels {
  /** The package and the version that `refresh.py` read. */
  source: string;
  services: Readonly<Record<string, Model>>;
}

/** `memory/values.ts` checks the type, the size, the depth and the text of attribute values. */
const LEAVES = ['AttributeValue'];

/** The error codes for invalid values, and for other violations if they differ. */
const CODES: Readonly<Record<string, Partial<Record<ModelViolation['kind'], string>> & { value: string }>> = {
  dynamodb: { value: 'ValidationException', type: 'SerializationException' },
  scheduler: { value: 'ValidationException', type: 'SerializationException' },
  ses: { value: 'ValidationError' },
  sqs: { value: 'InvalidParameterValue', missing: 'MissingParameter', type: 'SerializationException' },
};

type Loaded = ReadonlyMap<string, { model: Model; validator: ShapeValidator }>;

let loaded: Loaded | undefined;

// Loads with the first request, so that the start does not wait.
function load(): Loaded {
  const text = readFileSync(new URL('service-models.json', import.meta.url), 'utf8');
  const { services } = JSON.parse(text) as ServiceModels;
  const entry = ([name, model]: [string, Model]) =>
    [name, { model, validator: new ShapeValidator(model.shapes, LEAVES) }] as const;
  return new Map(Object.entries(services).map(entry));
}

/**
 * Throws `InvalidRequest` unless the input of an operation matches AWS's model of the service. An operation outside the extract
 * is invalid too, because its input shape is unknown.
 */
export function requireModel(service: string, operation: string, input: unknown): void {
  loaded ??= load();
  const { model, validator } = loaded.get(service) ?? {};
  const shape = model?.operations[operation];
  if (!validator || !shape)
    throw new InvalidRequest(`The service models lack ${service} ${operation}`, 'UnknownOperationException');
  const violation = validator.check(shape, input);
  if (!violation) return;
  const { kind, path, message } = violation;
  const { [kind]: code, value = '' } = CODES[service] ?? {};
  throw new InvalidRequest(
    `1 validation error detected: Value at '${path}' failed to satisfy constraint: ${message}`,
    code ?? value,
  );
}
