type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;
const json = JSON as unknown as { parse(text: string, reviver: Reviver): unknown; rawJSON?(text: string): unknown };

/** Keeps every digit of numbers that a double cannot represent, if the browser supports JSON.rawJSON. Throws `SyntaxError`. */
export function parseJson(text: string): unknown {
  return json.parse(text, (_name, value, context) => {
    const source = context?.source;
    const isChanged = typeof value === 'number' && source !== undefined && String(value) !== source;
    return isChanged && json.rawJSON ? json.rawJSON(source) : value;
  });
}
