/** Receives one sentence about a problem. */
export type Log = (message: string) => void;

/** Nothing that the function of the application throws reaches the engine. */
export const safely =
  (log: Log): Log =>
  (message) => {
    try {
      log(message);
    } catch {}
  };
