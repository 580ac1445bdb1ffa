import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { createLimiter } from '../../../../lib/concurrency.ts';
import type { Problem, Result } from '../state/api.ts';
import { problemText } from '../state/session.ts';
import { Confirm, Dialog, Done } from './dialog.tsx';

/** Concurrent requests. A new AWS account runs only 10 functions concurrently. */
const CONCURRENCY = 4;

interface BatchProps<Row> {
  rows: readonly Row[];
  nameOf: (row: Row) => string;
  act: (row: Row) => Promise<Result<unknown>>;
  title: string;
  action: string;
  /** The titles while the requests run, and at the end. */
  titles: readonly [busy: string, done: string];
  /** The text about the successful requests. */
  doneText: (count: number) => string;
  /** The effect of the action. */
  children: ComponentChildren;
  onCancel: () => void;
  onDone: () => void;
}

/** Runs an action for many rows with one request each. Shows the progress and the failed requests with their reasons. */
export function BatchDialog<Row>({
  rows,
  nameOf,
  act,
  title,
  action,
  titles: [busy, done],
  doneText,
  children,
  onCancel,
  onDone,
}: BatchProps<Row>) {
  const [count, setCount] = useState<number>();
  const [failed, setFailed] = useState<{ row: Row; problem: Problem }[]>([]);
  const begin = async () => {
    setCount(0);
    const limited = createLimiter(CONCURRENCY);
    const actOn = async (row: Row) => {
      const { problem } = await act(row);
      if (problem) setFailed((others) => [...others, { row, problem }]);
      setCount((last = 0) => last + 1);
    };
    await Promise.all(rows.map((row) => limited(() => actOn(row))));
    return { value: true };
  };
  if (count === undefined) {
    return (
      <Confirm title={title} action={action} act={begin} onDone={() => {}} onClose={onCancel}>
        {children}
      </Confirm>
    );
  }
  const isDone = count === rows.length;
  return (
    <Dialog title={isDone ? done : busy} onClose={onDone} isHeld={!isDone}>
      <progress aria-label="Progress" value={count} max={rows.length} />
      <p>
        <output>{isDone ? doneText(rows.length - failed.length) : `${count} of ${rows.length} requested`}</output>
      </p>
      {failed.length > 0 && (
        <ul class="results">
          {failed.map(({ row, problem }, i) => (
            <li key={i}>
              <code>{nameOf(row)}</code> {problemText(problem)}
            </li>
          ))}
        </ul>
      )}
      {isDone && <Done onClose={onDone} />}
    </Dialog>
  );
}
