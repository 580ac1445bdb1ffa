/** A document path as it was written: names or `#` placeholders, and indexes of lists. */
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

/** An action of an update: REMOVE has no operand. */
export interface Action {
  clause: 'SET' | 'REMOVE' | 'ADD' | 'DELETE';
  path: Path;
  operand?: Operand;
}

/** An expression, and what it uses. */
export interface Parsed<Tree> {
  tree: Tree;
  /** Every document path, every `:` placeholder, and how many operators and functions. */
  paths: readonly Path[];
  values: ReadonlySet<string>;
  operators: number;
}

/** The message of the `ValidationException` that DynamoDB would throw. */
export class ExpressionError extends Error {}
