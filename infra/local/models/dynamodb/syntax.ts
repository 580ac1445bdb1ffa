/** A document path with names or `#` placeholders, and list indexes. */
export type Path = readonly (string | number)[];

export type Operand =
  | { path: Path }
  /** A `:` placeholder. */
  | { value: string }
  | { call: string; operands: readonly Operand[] }
  | { sum: '+' | '-'; left: Operand; right: Operand };

export type Condition =
  | { compare: string; left: Operand; right: Operand }
  | { between: Operand; low: Operand; high: Operand }
  | { in: Operand; options: readonly Operand[] }
  | { call: string; operands: readonly Operand[] }
  | { all: readonly Condition[] }
  | { any: readonly Condition[] }
  | { not: Condition };

/** An action of an update. REMOVE has no operand. */
export interface Action {
  clause: 'SET' | 'REMOVE' | 'ADD' | 'DELETE';
  path: Path;
  operand?: Operand;
}

/** An expression and the names and values that it uses. */
export interface Parsed<Tree> {
  tree: Tree;
  /** Every document path, every `:` placeholder, and the number of operators and functions. */
  paths: readonly Path[];
  values: ReadonlySet<string>;
  operators: number;
}

/** The message of the `ValidationException` that DynamoDB would throw. */
export class ExpressionError extends Error {}
