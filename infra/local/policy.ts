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
  return [patterns ?? []].flat().some((pattern) => {
    const source = pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    return new RegExp(`^${source}$`, 's').test(text);
  });
}
