/** The headers of a request by lower-case name, because API Gateway keeps the case of HTTP/1.1 clients. */
export function lowerCased(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value ?? '']));
}
