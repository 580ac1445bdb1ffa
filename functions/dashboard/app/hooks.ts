import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem, Result } from './api.ts';

export interface Loaded<Value> {
  value?: Value | undefined;
  problem?: Problem | undefined;
  /** While a first or another answer is awaited; the last value stays. */
  loading: boolean;
  reload(): void;
}

/** What `load` gives, again whenever `key` changes. An answer that comes after that is dropped. */
export function useLoaded<Value>(key: string, load: () => Promise<Result<Value>>): Loaded<Value> {
  const [state, setState] = useState<{ key: string; result?: Result<Value> | undefined; loading: boolean }>({
    key,
    loading: true,
  });
  const [turn, setTurn] = useState(0);
  // The key stands for all that `load` depends on.
  useEffect(() => {
    let isCurrent = true;
    setState((last) => ({ key, result: last.key === key ? last.result : undefined, loading: true }));
    void load().then((result) => {
      if (isCurrent) setState({ key, result, loading: false });
    });
    return () => {
      isCurrent = false;
    };
  }, [key, turn]);
  const result = state.key === key ? state.result : undefined;
  const { value, problem } = result ?? {};
  return { value, problem, loading: state.loading || result === undefined, reload: () => setTurn((last) => last + 1) };
}

/** Calls `act` again and again while the page is to be seen; not at all if `everyMs` is `null`. */
export function useRepeated(everyMs: number | null, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (everyMs === null) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** The time, to the second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export interface Sending<Value> {
  busy: boolean;
  problem: Problem | undefined;
  /** Sends once at a time. */
  send(): Promise<Value | undefined>;
  clear(): void;
}

/** A request that somebody asked for: whether it is under way, and what was wrong with it. */
export function useSending<Value>(act: () => Promise<Result<Value>>): Sending<Value> {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  return {
    busy,
    problem,
    clear: () => setProblem(undefined),
    async send() {
      if (busy) return undefined;
      setBusy(true);
      setProblem(undefined);
      const result = await act();
      setBusy(false);
      setProblem(result.problem);
      return result.value;
    },
  };
}
