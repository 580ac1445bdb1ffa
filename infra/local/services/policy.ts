interface Statement {
  Effect: string;
  Action?: string | string[];
  Resource?: string | string[];
}

/** Whether a policy allows a request. It needs a matching allow and no matching deny. */
export function isInvocationAllowed({ Statement }: { Statement: unknown }, methodArn: string): boolean {
  const statements = [Statement].flat() as Statement[];
  const matching = statements.filter(
    ({ Action, Resource }) => anyMatches(Action, 'execute-api:Invoke') && anyMatches(Resource, methodArn),
  );
  return matching.some(({ Effect }) => Effect === 'Allow') && !matching.some(({ Effect }) => Effect === 'Deny');
}

/** IAM wildcards. `*` matches any text, including slashes, and `?` matches one character. */
export function anyMatches(patterns: string | string[] | undefined, text: string): boolean {
  return [patterns ?? []].flat().some((pattern) => expressionOf(pattern).test(text));
}

// A cache of compiled patterns. The template has a few dozen, and an authorizer can create more.
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
