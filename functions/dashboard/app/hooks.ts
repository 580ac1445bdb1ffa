import { useEffect, useRef, useState } from 'preact/hooks';
import { type Problem, type Result, serverNow } from './api.ts';

export interface Loaded<Value> {
  /** What came last; it stays while another answer is awaited, and when that one is a problem. */
  value?: Value | undefined;
  problem?: Problem | undefined;
  loading: boolean;
  reload(): void;
}

/**
 * What `load` gives, again whenever `key` changes; an answer that comes after that is dropped. It is the same thing loaded
 * again when only `version` changes.
 */
export function useLoaded<Value>(key: string, load: () => Promise<Result<Value>>, version = 0): Loaded<Value> {
  const [state, setState] = useState<{ key: string } & Omit<Loaded<Value>, 'reload'>>({ key, loading: true });
  const [turn, setTurn] = useState(0);
  // The key stands for all that `load` depends on.
  useEffect(() => {
    let isCurrent = true;
    setState((last) => (last.key === key ? { ...last, loading: true } : { key, loading: true }));
    void load().then(({ value, problem }) => {
      if (isCurrent) setState((last) => ({ key, value: problem ? last.value : value, problem, loading: false }));
    });
    return () => {
      isCurrent = false;
    };
  }, [key, turn, version]);
  const current = state.key === key ? state : { loading: true };
  return { ...current, reload: () => setTurn((last) => last + 1) };
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

/** The time of the service, to the second. */
export function useNow(): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), 1000);
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
  const isUnderWay = useRef(false); // two clicks may come before the next rendering
  return {
    busy,
    problem,
    clear: () => setProblem(undefined),
    async send() {
      if (isUnderWay.current) return undefined;
      isUnderWay.current = true;
      setBusy(true);
      setProblem(undefined);
      const result = await act();
      isUnderWay.current = false;
      setBusy(false);
      setProblem(result.problem);
      return result.value;
    },
  };
}
