import { ExpressionError, type Path } from './syntax.ts';

/** The maximum size of an expression (DynamoDB Developer Guide, "Quotas": "Expression parameters"). */
const MAX_BYTES = 4096;
const TOKEN = /\s*(<>|<=|>=|[<>=(),.[\]+-]|[#:]?\w+|\S)/g;

/** Reads the tokens of an expression in order, and records the paths and placeholders. */
export class Cursor {
  readonly paths: Path[] = [];
  readonly values = new Set<string>();
  operators = 0;
  protected readonly tokens: string[];
  protected at = 0;

  constructor(text: string) {
    if (text.trim() === '') throw new ExpressionError('The expression can not be empty;');
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_BYTES)
      throw new ExpressionError(`Expression size has exceeded the maximum allowed size; expression size: ${bytes}`);
    this.tokens = [...text.matchAll(TOKEN)].map(([, token = '']) => token);
  }

  /** Whether one pair of parentheses encloses the tokens from `start` up to the last one. */
  protected isWrapped(start: number): boolean {
    if (this.tokens[start] !== '(') return false;
    let depth = 0;
    for (let i = start; i < this.at - 1; i++) {
      if (this.tokens[i] === '(') depth++;
      if (this.tokens[i] === ')' && --depth === 0) return i === this.at - 2;
    }
    return false;
  }

  protected path(): Path {
    const path: (string | number)[] = [this.name()];
    for (;;) {
      if (this.takes('.')) path.push(this.name());
      else if (this.takes('[')) {
        const index = this.next();
        if (!/^\d+$/.test(index)) this.fail();
        path.push(Number(index));
        this.expect(']');
      } else break;
    }
    this.paths.push(path);
    return path;
  }

  private name(): string {
    const name = this.next();
    if (!/^#\w+$|^[A-Za-z]\w*$/.test(name)) this.fail();
    return name;
  }

  protected separated<Part>(keyword: string, parse: () => Part): Part[] {
    const parts = [parse()];
    while (this.takes(keyword)) {
      this.operators++;
      parts.push(parse());
    }
    return parts;
  }

  protected listOf<Part>(parse: () => Part): Part[] {
    const parts = [parse()];
    while (this.takes(',')) parts.push(parse());
    return parts;
  }

  protected peek(): string {
    return this.tokens[this.at] ?? '';
  }

  protected next(): string {
    return this.tokens[this.at++] ?? '';
  }

  protected takes(token: string): boolean {
    const isNext = this.peek().toUpperCase() === token;
    if (isNext) this.at++;
    return isNext;
  }

  protected expect(token: string): void {
    if (!this.takes(token)) this.fail();
  }

  protected fail(): never {
    throw new ExpressionError(`Syntax error; token: "${this.peek() || '<EOF>'}"`);
  }
}
