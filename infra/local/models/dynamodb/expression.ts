import { Cursor } from './cursor.ts';
import { type Action, type Condition, ExpressionError, type Operand, type Parsed, type Path } from './syntax.ts';

/** Condition functions and their number of operands (DynamoDB Developer Guide, "Condition and filter expressions"). */
const CONDITIONS: Record<string, number> = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  attribute_type: 2,
  begins_with: 2,
  contains: 2,
};
const COMPARATORS = ['=', '<>', '<', '<=', '>', '>='];
const MAX_IN_OPERANDS = 100;

class Parser extends Cursor {
  parsed<Tree>(tree: Tree): Parsed<Tree> {
    if (this.at < this.tokens.length) this.fail();
    const { paths, values, operators } = this;
    return { tree, paths, values, operators };
  }

  condition(): Condition {
    const any = this.separated('OR', () => {
      const all = this.separated('AND', () => this.term());
      return all.length === 1 ? (all[0] as Condition) : { all };
    });
    return any.length === 1 ? (any[0] as Condition) : { any };
  }

  projection(): Path[] {
    return this.listOf(() => this.path());
  }

  update(): Action[] {
    const actions: Action[] = [];
    const clauses = new Set<string>();
    while (this.at < this.tokens.length) {
      const clause = this.next().toUpperCase() as Action['clause'];
      if (!['SET', 'REMOVE', 'ADD', 'DELETE'].includes(clause)) this.fail();
      if (clauses.has(clause))
        throw new ExpressionError(`The "${clause}" section can only be used once in an update expression;`);
      clauses.add(clause);
      actions.push(...this.listOf(() => this.action(clause)));
    }
    return actions;
  }

  private action(clause: Action['clause']): Action {
    const path = this.path();
    if (clause === 'REMOVE') return { clause, path };
    if (clause !== 'SET') return { clause, path, operand: this.operand() };
    this.expect('=');
    const left = this.operand();
    const sign = this.peek();
    if (sign !== '+' && sign !== '-') return { clause, path, operand: left };
    this.at++;
    this.operators++;
    return { clause, path, operand: { sum: sign, left, right: this.operand() } };
  }

  private term(): Condition {
    if (this.takes('NOT')) {
      this.operators++;
      return { not: this.term() };
    }
    if (this.takes('(')) {
      const start = this.at;
      const inner = this.condition();
      this.expect(')');
      if (this.isWrapped(start)) throw new ExpressionError('The expression has redundant parentheses;');
      return inner;
    }
    const name = this.peek();
    const count = Object.hasOwn(CONDITIONS, name) && this.tokens[this.at + 1] === '(' ? CONDITIONS[name] : undefined;
    if (count !== undefined) return this.call(this.next(), count);
    const left = this.operand();
    this.operators++;
    if (this.takes('BETWEEN')) {
      const low = this.operand();
      this.expect('AND');
      return { between: left, low, high: this.operand() };
    }
    if (this.takes('IN')) {
      this.expect('(');
      const options = this.listOf(() => this.operand());
      this.expect(')');
      if (options.length > MAX_IN_OPERANDS)
        throw new ExpressionError(
          `The IN operator is provided with too many operands; number of operands: ${options.length}`,
        );
      return { in: left, options };
    }
    const compare = this.next();
    if (!COMPARATORS.includes(compare)) this.fail();
    return { compare, left, right: this.operand() };
  }

  private operand(): Operand {
    const token = this.peek();
    if (token.startsWith(':')) {
      this.at++;
      this.values.add(token);
      return { value: token };
    }
    if (this.tokens[this.at + 1] !== '(') return { path: this.path() };
    if (token === 'size') return this.call(this.next(), 1);
    if (token === 'if_not_exists' || token === 'list_append') return this.call(this.next(), 2);
    throw new ExpressionError(`Invalid function name; function: ${token}`);
  }

  private call(call: string, count: number): { call: string; operands: Operand[] } {
    this.operators++;
    this.expect('(');
    const operands = this.listOf(() => this.operand());
    this.expect(')');
    if (operands.length !== count)
      throw new ExpressionError(
        `Incorrect number of operands for operator or function; operator or function: ${call}, number of operands: ${operands.length}`,
      );
    return { call, operands };
  }
}

/** Caches parsed expressions, because there are few and they repeat. */
function cached<Tree>(parse: (parser: Parser) => Tree): (text: string) => Parsed<Tree> {
  const known = new Map<string, Parsed<Tree>>();
  return (text) => {
    let parsed = known.get(text);
    if (!parsed) {
      const parser = new Parser(text);
      parsed = parser.parsed(parse(parser));
      if (known.size === MAX_KNOWN) known.clear();
      known.set(text, parsed);
    }
    return parsed;
  };
}
const MAX_KNOWN = 1000;

export const parseCondition = cached((parser) => parser.condition());
export const parseProjection = cached((parser) => parser.projection());
export const parseUpdate = cached((parser) => parser.update());
