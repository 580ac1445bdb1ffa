// The browser imports this file too, so it must stay small.

/** Runs at most `atOnce` actions concurrently. Others wait in their order. */
export function createLimiter(atOnce: number) {
  let underWay = 0;
  const waiting: (() => void)[] = [];
  return async <Value>(act: () => Promise<Value>): Promise<Value> => {
    if (underWay === atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay++;
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else underWay--;
    }
  };
}
