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

/** No close frame (1006), or no message for too long (4408 of Hocuspocus). Every other code states that one of both sides has closed. */
export const isLost = (code: number | undefined): boolean => code === 1006 || code === 4408;
