interface Statement {
  Effect: string;
  Action?: string | string[];
  Resource?: string | string[];
}

/** Whether a policy lets API Gateway pass a request on: an allow that matches, and no deny that does. */
export function isInvocationAllowed({ Statement }: { Statement: unknown }, methodArn: string): boolean {
  const statements = [Statement].flat() as Statement[];
  const matching = statements.filter(
    ({ Action, Resource }) => anyMatches(Action, 'execute-api:Invoke') && anyMatches(Resource, methodArn),
  );
  return matching.some(({ Effect }) => Effect === 'Allow') && !matching.some(({ Effect }) => Effect === 'Deny');
}

/** IAM's wildcards: `*` is any text, slashes too, and `?` one character. */
export function anyMatches(patterns: string | string[] | undefined, text: string): boolean {
  return [patterns ?? []].flat().some((pattern) => expressionOf(pattern).test(text));
}

// Every call of every function is checked against a few dozen patterns of the template; an authorizer may make up more.
const expressions = new Map<string, RegExp>();
const MAX_EXPRESSIONS = 1000;

function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern);
  if (known) return known;
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const expression = new RegExp(`^${source}$`, 's');
  if (expressions.size >= MAX_EXPRESSIONS) expressions.clear();
  expressions.set(pattern, expression);
  return expression;
}
