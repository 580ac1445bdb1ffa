import { createContext } from 'preact';
import { useContext, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Json } from '../../../../lib/json.ts';
import type { Problem, Result } from '../state/api.ts';
import { parseJson } from '../state/parse-json.ts';

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
  const violation = useMemo(() => name && violationIn(problem, name, sent.current), [problem, name]);
  if (!form?.busy) sent.current = entries; // a later edit does not change the entries of a request
  return violation;
}

/** The violation of a field of the request. */
export const violationOf = (problem: Problem | undefined, field: string): string | undefined =>
  problem?.errors?.find((each) => each.field === field)?.detail;

/** The violations of a member and of its own members or entries, at most three. Some details of the API name the entry themselves. */
function violationIn(problem: Problem | undefined, field: string, entries?: readonly string[]): string | undefined {
  const errors = problem?.errors?.filter((each) => isWithin(each.field, field)) ?? [];
  const texts = errors.map(({ field: place, detail }) => {
    const [, index, name] = /^[^[.]+(?:\[(\d+)\]|\.(.+))?$/s.exec(place) ?? [];
    const entry = index && entries?.[Number(index)];
    if (entry && !detail.startsWith('"')) return `contain “${entry}”, which ${detail}`;
    return name === undefined ? detail : `${name} ${detail}`;
  });
  const more = texts.length > 3 ? [`and ${texts.length - 3} more`] : [];
  return texts.length > 0 ? [...texts.slice(0, 3), ...more].join('; ') : undefined;
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

/** Parses the JSON object that a user entered, or returns the violation of a field. */
export function objectIn(text: string, field: string): Result<{ [member: string]: Json }> {
  const violation = (detail: string) => ({
    problem: { code: 'invalid_json', status: 0, detail: 'The input is invalid.', errors: [{ field, detail }] },
  });
  try {
    const value = parseJson(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { value: value as { [member: string]: Json } } : violation('must be a JSON object');
  } catch (error) {
    return violation(`must be JSON. ${(error as Error).message}`);
  }
}
