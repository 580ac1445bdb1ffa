const RETRY_MS = 1000;

/** Repeats a check of a token while the service does not respond and the client still waits. Throws the last error after that. */
export async function patiently<Result>(check: () => Promise<Result>, isWaiting: () => boolean): Promise<Result> {
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (!isWaiting()) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** A client that closes its connection sends 1000 or 1001, and a browser often no code (1005). Every other end is a loss. */
export const isClean = (code: number | undefined): boolean => code === 1000 || code === 1001 || code === 1005;
