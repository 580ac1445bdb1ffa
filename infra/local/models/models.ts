import { readFileSync } from 'node:fs';
import { InvalidRequest } from './invalid-request.ts';
import { type ModelViolation, type Shapes, ShapeValidator } from './shapes.ts';

interface Model {
  /** The input shape of each operation. */
  operations: Readonly<Record<string, string>>;
  shapes: Shapes;
}

type Models = Readonly<Record<string, Model>>;

/** The error codes for invalid values, and for other violations if they differ. */
const CODES: Readonly<Record<string, Partial<Record<ModelViolation['kind'], string>> & { value: string }>> = {
  dynamodb: { value: 'ValidationException', type: 'SerializationException' },
  scheduler: { value: 'ValidationException', type: 'SerializationException' },
  ses: { value: 'ValidationError' },
  sqs: { value: 'InvalidParameterValue', missing: 'MissingParameter', type: 'SerializationException' },
};

let models: Models | undefined;

// Loads with the first request, so that the start does not wait.
const load = (): Models => JSON.parse(readFileSync(new URL('service-models.json', import.meta.url), 'utf8')).services;

/**
 * Throws `InvalidRequest` unless the input of an operation matches AWS's model of the service. Operations and members outside the
 * extract are invalid too.
 */
export function requireModel(service: string, operation: string, input: unknown): void {
  models ??= load();
  const { operations = {}, shapes = {} } = models[service] ?? {};
  const shape = operations[operation];
  if (!shape) throw new InvalidRequest(`The service models lack ${service} ${operation}`, 'UnknownOperationException');
  const violation = new ShapeValidator(shapes).check(shape, input);
  if (!violation) return;
  const { kind, path, message } = violation;
  const { [kind]: code, value = '' } = CODES[service] ?? {};
  throw new InvalidRequest(
    `1 validation error detected: Value at '${path}' failed to satisfy constraint: ${message}`,
    code ?? value,
  );
}
