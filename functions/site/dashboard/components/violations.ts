import { createContext } from 'preact';
import { useContext, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Problem } from '../state/api.ts';

interface Request {
  busy: boolean;
  problem: Problem | undefined;
  /** The members whose violations are shown at a field. */
  shown: Set<string>;
}

/** The request of a form. */
export const FormRequest = createContext<Request | null>(null);

/** The violation of a member of the request of the form. The form shows the violations of other members below its fields. */
export function useViolation(name: string | undefined, entries?: readonly string[]): string | undefined {
  const form = useContext(FormRequest);
  const shown = form?.shown;
  useLayoutEffect(() => {
    if (name === undefined) return;
    shown?.add(name);
    return () => void shown?.delete(name);
  }, [shown, name]);
  const problem = form?.problem;
  const sent = useRef(entries);
  const violation = useMemo(() => {
    if (name === undefined) return undefined;
    return sent.current ? wrongEntry(problem, name, sent.current) : violationIn(problem, name);
  }, [problem, name]);
  if (!form?.busy) sent.current = entries; // a later edit does not change the entries of a request
  return violation;
}

/** The violation of a field of the request. */
export const violationOf = (problem: Problem | undefined, field: string): string | undefined =>
  problem?.errors?.find((each) => each.field === field)?.detail;

/** The violations of a list with one entry per line, or of the members of an object. */
function violationIn(problem: Problem | undefined, field: string): string | undefined {
  const errors = problem?.errors?.filter((each) => isWithin(each.field, field)) ?? [];
  const texts = errors.map(({ field: place, detail }) => {
    const [, index, name] = /^[^[.]+(?:\[(\d+)\]|\.(.+))?$/s.exec(place) ?? [];
    const part = index === undefined ? name : `line ${Number(index) + 1}`;
    return part === undefined ? detail : `${part} ${detail}`;
  });
  return texts.length > 0 ? texts.join('; ') : undefined;
}

/** The violation of a list with all entries in one line, which names the entry. */
function wrongEntry(problem: Problem | undefined, field: string, entries: readonly string[]): string | undefined {
  const error = problem?.errors?.find((each) => isWithin(each.field, field));
  const entry = entries[Number(/\[(\d+)\]/.exec(error?.field ?? '')?.[1])];
  return error && entry ? `contain “${entry}”, which ${error.detail}` : error?.detail;
}

const isWithin = (field: string, whole: string): boolean =>
  field === whole || field.startsWith(`${whole}[`) || field.startsWith(`${whole}.`);

/** Returns a problem that concerns no field of the form. */
export function otherProblem(problem: Problem | undefined, fields: Iterable<string>): Problem | string | undefined {
  const shown = [...fields];
  if (!problem?.errors) return problem;
  const others = problem.errors.filter(({ field }) => !shown.some((each) => isWithin(field, each)));
  return others.length > 0 ? others.map(({ field, detail }) => `${field} ${detail}.`).join(' ') : undefined;
}
