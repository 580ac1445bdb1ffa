import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Problem, type Result, serverNow } from './api.ts';

export interface Loaded<Value> {
  /** The latest value. It stays during a reload, and when the reload fails. */
  value?: Value | undefined;
  problem?: Problem | undefined;
  loading: boolean;
  reload(): void;
}

/**
 * Calls `load` initially and after each change of `key` or `version`. Results that arrive after a change are dropped. A new
 * `key` discards the old value. A new `version` keeps it until the next value arrives.
 */
export function useLoaded<Value>(key: string, load: () => Promise<Result<Value>>, version = 0): Loaded<Value> {
  const [state, setState] = useState<{ key: string } & Omit<Loaded<Value>, 'reload'>>({ key, loading: true });
  const [reloads, setReloads] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for everything that `load` depends on
  useEffect(() => {
    let isCurrent = true;
    setState((last) => (last.key === key ? { ...last, loading: true } : { key, loading: true }));
    void load().then(({ value, problem }) => {
      if (isCurrent) setState((last) => ({ key, value: problem ? last.value : value, problem, loading: false }));
    });
    return () => {
      isCurrent = false;
    };
  }, [key, reloads, version]);
  const current = state.key === key ? state : { loading: true };
  return { ...current, reload: () => setReloads((last) => last + 1) };
}

/**
 * Reloads values at an interval while the page is visible, unless `everyMs` is `null`. A read that takes longer is not repeated, because
 * its result would be dropped.
 */
export function useRepeated(everyMs: number | null, ...all: readonly Omit<Loaded<unknown>, 'value'>[]): void {
  const latest = useRef(all);
  latest.current = all;
  useEffect(() => {
    if (everyMs === null) return;
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return;
      for (const { loading, reload } of latest.current) if (!loading) reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** Whether the component is no longer shown, for the end of a request. */
export function useIsLeft(): RefObject<boolean> {
  const isLeft = useRef(false);
  useEffect(
    () => () => {
      isLeft.current = true;
    },
    [],
  );
  return isLeft;
}

const clock = { now: 0, shownBy: new Set<(now: number) => void>(), timer: 0 };

function tick(): void {
  clock.now = serverNow();
  for (const show of clock.shownBy) show(clock.now);
}

/** The service's time, updated every second. All parts of the page have the same one, so that no two of them contradict each other. */
export function useNow(): number {
  if (clock.shownBy.size === 0) clock.now = serverNow();
  const [now, setNow] = useState(clock.now);
  useEffect(() => {
    if (clock.shownBy.size === 0) clock.timer = setInterval(tick, 1000) as unknown as number;
    clock.shownBy.add(setNow);
    return () => {
      clock.shownBy.delete(setNow);
      if (clock.shownBy.size === 0) clearInterval(clock.timer);
    };
  }, []);
  return now;
}

export interface Form<Values> {
  value: Values;
  set(value: Values): void;
  /** The properties of the control for a value with the name of a member of the request. */
  field<Name extends keyof Values & string>(
    name: Name,
  ): { name: Name; value: Values[Name]; onInput: (value: Values[Name]) => void };
}

const formOf = <Values>(value: Values, set: (value: Values) => void): Form<Values> => ({
  value,
  set,
  field: (name) => ({ name, value: value[name], onInput: (next) => set({ ...value, [name]: next }) }),
});

/** The input of a form. */
export const useForm = <Values>(initial: Values): Form<Values> => formOf(...useState(initial));

/**
 * Unsaved input by form. It survives a change of the page and an automatic sign-out, and ends with the user's sign-out or a sign-in with
 * another key, which can be of another project.
 */
const drafts = new Map<string, unknown>();
export const forgetDrafts = (): void => drafts.clear();

export interface Draft<Values> extends Form<Values> {
  /** Whether the user entered the value before, and left the form without saving it. */
  isRestored: boolean;
  /** Returns to the initial value. */
  discard(): void;
  /** Deletes the saved draft, unless the user has changed it during the request. The form then shows `next`, by default its value. */
  saved(next?: Values): void;
}

/** The input of a form. It is kept until it is saved or discarded. */
export function useDraft<Values>(form: string, initial: Values): Draft<Values> {
  const [isRestored, setRestored] = useState(drafts.has(form));
  const [value, setValue] = useState((drafts.get(form) as Values | undefined) ?? initial);
  const set = (next: Values) => {
    drafts.set(form, next);
    setValue(next);
  };
  return {
    ...formOf(value, set),
    isRestored,
    discard() {
      drafts.delete(form);
      setRestored(false);
      setValue(initial);
    },
    saved(next = value) {
      setRestored(false);
      if (drafts.get(form) !== value) return;
      drafts.delete(form);
      setValue(next);
    },
  };
}

/** A request that the user makes: whether it is in flight, and its problem if it failed. */
export function useSending<Value>(act: () => Promise<Result<Value>>) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const isInFlight = useRef(false); // two clicks can come before the next render
  return {
    busy,
    problem,
    clear: () => setProblem(undefined),
    /** Does nothing while a request is in flight. */
    async send(): Promise<Value | undefined> {
      if (isInFlight.current) return undefined;
      isInFlight.current = true;
      setBusy(true);
      setProblem(undefined);
      const result = await act();
      isInFlight.current = false;
      setBusy(false);
      setProblem(result.problem);
      return result.value;
    },
  };
}
