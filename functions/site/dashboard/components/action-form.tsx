import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Result } from '../state/api.ts';
import { useSending } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';
import { Button, Form } from './basics.tsx';
import { ProblemNote } from './feedback.tsx';
import { FormRequest, otherProblem } from './violations.ts';

export interface Action<Value> {
  /** The text of the button. */
  action: string;
  kind?: 'danger' | 'primary';
  /** Sends the request. It is not called again before its end. */
  act: () => Promise<Result<Value>>;
  onDone: (value: Value) => void;
  /** The message about the success. */
  announcement?: string;
  children: ComponentChildren;
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
  announcement,
  children,
  others,
  isDialog = false,
}: Props<Value>) {
  const { announce } = useSession();
  const { busy, problem, send } = useSending(act);
  const { current: shown } = useRef(new Set<string>());
  const submit = async () => {
    const value = await send();
    if (value === undefined) return;
    if (announcement) announce(announcement);
    onDone(value);
  };
  return (
    <Form onSubmit={submit}>
      <FormRequest.Provider value={{ busy, problem, shown }}>{children}</FormRequest.Provider>
      <ProblemNote problem={otherProblem(problem, shown)} />
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
