/**
 * How every client of the SDK talks to its service: a call that hangs is given up while there is time to try again, and
 * long before the function's own time limit.
 */
export const clientSettings = {
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
} as const;
