import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Problem } from '../state/api.ts';
import type { Draft, Loaded } from '../state/hooks.ts';
import { problemText } from '../state/session.ts';
import { Button, Link, PageTitle } from './basics.tsx';

export function ProblemNote({ problem }: { problem: Problem | string | undefined }) {
  if (problem === undefined) return null;
  return (
    <p class="callout error" role="alert">
      {typeof problem === 'string' ? problem : problemText(problem)}
    </p>
  );
}

export function Callout({ kind, children }: { kind: 'error' | 'warning' | 'info'; children: ComponentChildren }) {
  return <div class={`callout ${kind}`}>{children}</div>;
}

/** Says that a form contains input from before, with a button that discards it. */
export function RestoredDraft({ of: draft }: { of: Pick<Draft<unknown>, 'isRestored' | 'discard'> }) {
  if (!draft.isRestored) return null;
  return (
    <Callout kind="info">
      <p>Your unsaved changes were restored.</p>
      <Button onClick={draft.discard}>Discard them</Button>
    </Callout>
  );
}

export function Empty({ children, action }: { children: ComponentChildren; action?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {action}
    </div>
  );
}

/** The heading of a page that has nothing but a problem. */
export const ProblemTitle = ({ of: { status } }: { of: Problem }) => (
  <PageTitle>{status === 404 ? 'Not found' : 'Not available'}</PageTitle>
);

interface AwaitProps<Value> {
  of: Loaded<Value>;
  children: (value: Value) => ComponentChildren;
}

/** The code of the problem that the page shows already, such as `unreachable`. */
const ShownProblem = createContext<string | undefined>(undefined);

/**
 * Shows the loaded value. Until then it shows placeholder lines, or the problem with a button that tries again. An outage is shown once, by
 * the outer of two values.
 */
export function Await<Value>({ of, children }: AwaitProps<Value>) {
  const shown = useContext(ShownProblem);
  const note = of.problem?.code !== shown && <ProblemNote problem={of.problem} />;
  if (of.value !== undefined) {
    return (
      <ShownProblem.Provider value={of.problem?.code ?? shown}>
        <div aria-busy={of.loading}>
          {note}
          {children(of.value)}
        </div>
      </ShownProblem.Provider>
    );
  }
  if (of.problem) {
    return of.problem.status === 404 ? (
      <div class="empty" role="alert">
        {problemText(of.problem)} It may have been deleted.
      </div>
    ) : (
      <div class="empty">
        {note}
        <Button onClick={of.reload}>Try again</Button>
      </div>
    );
  }
  return (
    <output class="skeleton">
      <span class="visually-hidden">Loading…</span>
    </output>
  );
}

interface ItemPageProps<Value> extends AwaitProps<Value> {
  /** The path and the title of the list. */
  section: string;
  title: string;
}

/** The page of an entry of a list, with a link to the list. Without the entry, its problem has the heading. */
export const ItemPage = <Value,>({ section, title, of, children }: ItemPageProps<Value>) => (
  <>
    <p class="up">
      <Link to={[section]}>{title}</Link>
    </p>
    {of.value === undefined && of.problem && <ProblemTitle of={of.problem} />}
    <Await of={of}>{children}</Await>
  </>
);
