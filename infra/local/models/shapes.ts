/** A shape of a service model, as botocore describes it. */
export interface Shape {
  type: string;
  required?: readonly string[];
  members?: Readonly<Record<string, string>>;
  /** The shape of the entries of a list, and of the keys and values of a map. */
  member?: string;
  key?: string;
  value?: string;
  enum?: readonly string[];
  /** The minimum of a number, or of the length of a text, list or map. */
  min?: number;
  max?: number;
  pattern?: string;
}
export type Shapes = Readonly<Record<string, Shape>>;

/** A violation in a request. */
export interface ModelViolation {
  kind: 'missing' | 'unknown' | 'type' | 'value';
  path: string;
  message: string;
}

/** Compares values with the shapes of one service. */
export class ShapeValidator {
  private readonly shapes: Shapes;

  constructor(shapes: Shapes) {
    this.shapes = shapes;
  }

  /** Returns the first violation, if any. */
  check(name: string, value: unknown, path = ''): ModelViolation | undefined {
    const shape = this.shapes[name];
    if (!shape) throw new Error(`The service models have no shape ${name}`);
    switch (shape.type) {
      case 'structure':
        return this.structure(shape, value, path);
      case 'list':
        return this.list(shape, value, path);
      case 'map':
        return this.map(shape, value, path);
      case 'string':
        return typeof value === 'string' ? text(shape, value, path) : wrongType(path, 'a string');
      case 'boolean':
        return typeof value === 'boolean' ? undefined : wrongType(path, 'a boolean');
      case 'integer':
      case 'long':
        return Number.isSafeInteger(value)
          ? bounded(shape, value as number, 'value', path)
          : wrongType(path, 'an integer');
      default:
        return undefined; // `memory/values.ts` checks the type, the size, the depth and the text of attribute values
    }
  }

  private structure({ members = {}, required = [] }: Shape, value: unknown, path: string): ModelViolation | undefined {
    if (!isObject(value)) return wrongType(path, 'an object');
    for (const name of required)
      if (value[name] === undefined)
        return { kind: 'missing', path: joined(path, name), message: 'Member must not be null' };
    for (const name of Object.keys(value)) {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      // AWS ignores most unknown members. The local stack reports them as mistakes.
      if (!member) return { kind: 'unknown', path: joined(path, name), message: 'The model has no such member' };
      const violation = value[name] === undefined ? undefined : this.check(member, value[name], joined(path, name));
      if (violation) return violation;
    }
    return undefined;
  }

  private list(shape: Shape, value: unknown, path: string): ModelViolation | undefined {
    if (!Array.isArray(value)) return wrongType(path, 'a list');
    for (let i = 0; i < value.length; i++) {
      const violation = this.check(shape.member ?? '', value[i], `${path}.${i + 1}.member`);
      if (violation) return violation;
    }
    return bounded(shape, value.length, 'length', path);
  }

  private map(shape: Shape, value: unknown, path: string): ModelViolation | undefined {
    if (!isObject(value)) return wrongType(path, 'an object');
    const names = Object.keys(value);
    for (const name of names) {
      const at = joined(path, name);
      const violation = this.check(shape.key ?? '', name, at) ?? this.check(shape.value ?? '', value[name], at);
      if (violation) return violation;
    }
    return bounded(shape, names.length, 'length', path);
  }
}

function text(shape: Shape, value: string, path: string): ModelViolation | undefined {
  if (shape.enum && !shape.enum.includes(value))
    return invalid(path, `Member must satisfy enum value set: [${shape.enum.join(', ')}]`);
  if (shape.pattern !== undefined && !new RegExp(`^(?:${shape.pattern})$`).test(value))
    return invalid(path, `Member must satisfy regular expression pattern: ${shape.pattern}`);
  return bounded(shape, value.length, 'length', path);
}

function bounded(
  { min, max }: Shape,
  size: number,
  what: 'length' | 'value',
  path: string,
): ModelViolation | undefined {
  if (min !== undefined && size < min) return invalid(path, `Member must have ${what} greater than or equal to ${min}`);
  if (max !== undefined && size > max) return invalid(path, `Member must have ${what} less than or equal to ${max}`);
  return undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const joined = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
const wrongType = (path: string, wanted: string): ModelViolation => ({
  kind: 'type',
  path,
  message: `Expected ${wanted}`,
});
const invalid = (path: string, message: string): ModelViolation => ({ kind: 'value', path, message });
