import type { ComponentChildren } from 'preact';
import type { Problem, Result } from '../state/api.ts';
import { useSending } from '../state/hooks.ts';
import { Button, Form } from './basics.tsx';
import { ProblemNote } from './feedback.tsx';
import { otherProblem } from './violations.ts';

export interface Action<Value> {
  /** The text of the button. */
  action: string;
  kind?: 'danger' | 'primary';
  /** Sends the request. It is not called again before its end. */
  act: () => Promise<Result<Value>>;
  onDone: (value: Value) => void;
  /** The members of the request whose violations `children` shows. */
  fields?: readonly string[];
  children: ComponentChildren | ((problem: Problem | undefined) => ComponentChildren);
}

interface Props<Value> extends Action<Value> {
  /** Other buttons, in front of the button of the action in a dialog, and behind it elsewhere. */
  others?: ComponentChildren;
  isDialog?: boolean;
}

/** A form with one request: its fields, its problem and its button. */
export function ActionForm<Value>({
  action,
  kind = 'primary',
  act,
  onDone,
  fields = [],
  children,
  others,
  isDialog = false,
}: Props<Value>) {
  const { busy, problem, send } = useSending(act);
  const submit = async () => {
    const value = await send();
    if (value !== undefined) onDone(value);
  };
  return (
    <Form onSubmit={submit}>
      {typeof children === 'function' ? children(problem) : children}
      <ProblemNote problem={otherProblem(problem, fields)} />
      <div class={isDialog ? 'actions end' : 'actions'}>
        {isDialog && others}
        <Button type="submit" kind={kind} busy={busy}>
          {action}
        </Button>
        {!isDialog && others}
      </div>
    </Form>
  );
}
