/** Headers of a request by their names in lower case: API Gateway keeps those of HTTP/1.1 as the client wrote them. */
export function lowerCased(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value ?? '']));
}
