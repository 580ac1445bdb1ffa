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

  /** Returns the first violation, if any. Its path is joined on the way back, because most values have none. */
  check(name: string, value: unknown): ModelViolation | undefined {
    const shape = this.shapes[name];
    if (!shape) throw new Error(`The service models have no shape ${name}`);
    switch (shape.type) {
      case 'structure':
        return this.structure(shape, value);
      case 'list':
        return this.list(shape, value);
      case 'map':
        return this.map(shape, value);
      case 'string':
        return typeof value === 'string' ? text(shape, value) : wrongType('a string');
      case 'boolean':
        return typeof value === 'boolean' ? undefined : wrongType('a boolean');
      case 'integer':
      case 'long':
        return Number.isSafeInteger(value) ? bounded(shape, value as number, 'value') : wrongType('an integer');
      default:
        return undefined; // `memory/values.ts` checks the type, the size, the depth and the text of attribute values
    }
  }

  private structure({ members = {}, required = [] }: Shape, value: unknown): ModelViolation | undefined {
    if (!isObject(value)) return wrongType('an object');
    for (const name of required)
      if (value[name] === undefined) return { kind: 'missing', path: name, message: 'Member must not be null' };
    for (const name of Object.keys(value)) {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      // AWS ignores most unknown members. The local stack reports them as mistakes.
      if (!member) return { kind: 'unknown', path: name, message: 'The model has no such member' };
      const violation = value[name] === undefined ? undefined : this.check(member, value[name]);
      if (violation) return within(name, violation);
    }
    return undefined;
  }

  private list(shape: Shape, value: unknown): ModelViolation | undefined {
    if (!Array.isArray(value)) return wrongType('a list');
    for (let i = 0; i < value.length; i++) {
      const violation = this.check(shape.member ?? '', value[i]);
      if (violation) return within(`${i + 1}.member`, violation);
    }
    return bounded(shape, value.length, 'length');
  }

  private map(shape: Shape, value: unknown): ModelViolation | undefined {
    if (!isObject(value)) return wrongType('an object');
    const names = Object.keys(value);
    for (const name of names) {
      const violation = this.check(shape.key ?? '', name) ?? this.check(shape.value ?? '', value[name]);
      if (violation) return within(name, violation);
    }
    return bounded(shape, names.length, 'length');
  }
}

const patterns = new Map<string, RegExp>();

/** The compiled pattern of a model. */
function patternOf(text: string): RegExp {
  const pattern = patterns.get(text) ?? new RegExp(`^(?:${text})$`);
  patterns.set(text, pattern);
  return pattern;
}

function text(shape: Shape, value: string): ModelViolation | undefined {
  if (shape.enum && !shape.enum.includes(value))
    return invalid(`Member must satisfy enum value set: [${shape.enum.join(', ')}]`);
  if (shape.pattern !== undefined && !patternOf(shape.pattern).test(value))
    return invalid(`Member must satisfy regular expression pattern: ${shape.pattern}`);
  return bounded(shape, value.length, 'length');
}

function bounded({ min, max }: Shape, size: number, what: 'length' | 'value'): ModelViolation | undefined {
  if (min !== undefined && size < min) return invalid(`Member must have ${what} greater than or equal to ${min}`);
  if (max !== undefined && size > max) return invalid(`Member must have ${what} less than or equal to ${max}`);
  return undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The same violation, with its path from the value that contains the member. */
const within = (name: string, { path, ...violation }: ModelViolation): ModelViolation => ({
  ...violation,
  path: path === '' ? name : `${name}.${path}`,
});
const wrongType = (wanted: string): ModelViolation => ({ kind: 'type', path: '', message: `Expected ${wanted}` });
const invalid = (message: string): ModelViolation => ({ kind: 'value', path: '', message });
