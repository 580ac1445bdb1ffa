/** The maximum size of all environment variables of a function, names and values (Lambda quotas: 4 KB). */
const MAX_BYTES = 4096;

/** Throws for variables that Lambda would reject at deployment. */
export function requireVariablesSize(functionId: string, variables: Record<string, string> = {}): void {
  const bytes = Object.entries(variables).reduce((sum, entry) => sum + Buffer.byteLength(entry.join('')), 0);
  if (bytes > MAX_BYTES)
    throw new Error(`The environment variables of ${functionId} exceed the 4 KB limit: ${bytes} bytes`);
}
