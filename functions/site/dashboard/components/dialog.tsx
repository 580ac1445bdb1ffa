import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Secret } from '../state/session.ts';
import { type Action, ActionForm } from './action-form.tsx';
import { Button } from './basics.tsx';
import { Copyable } from './copyable.tsx';

/** Shows a dialog over everything else for as long as it is part of the page. */
export function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close(); // the browser restores the focus
  }, []);
  return dialog;
}

/** A modal dialog: traps the focus, closes with Escape unless it is held open, and restores the focus. */
export function Dialog({
  title,
  onClose,
  isHeld = false,
  children,
}: {
  title: string;
  onClose: () => void;
  isHeld?: boolean;
  children: ComponentChildren;
}) {
  const dialog = useModal();
  const id = useId();
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (isHeld && event.key === 'Escape') event.preventDefault(); // a second Escape closes the dialog even if `cancel` is prevented
      }}
      onCancel={(event) => {
        event.preventDefault();
        if (!isHeld) onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps<Value> extends Action<Value> {
  title: string;
  onClose: () => void;
  /** Whether the dialog stays open until the response. The default is `true`. */
  awaitsResponse?: boolean;
}

/** Asks the user to confirm an action, runs it, and shows its problem. */
export function Confirm<Value>({ title, onClose, act, awaitsResponse = true, ...action }: ConfirmProps<Value>) {
  const [isHeld, setHeld] = useState(false);
  const send = async () => {
    setHeld(awaitsResponse);
    try {
      return await act();
    } finally {
      setHeld(false);
    }
  };
  const cancel = (
    <Button onClick={onClose} disabled={isHeld}>
      Cancel
    </Button>
  );
  return (
    <Dialog title={title} onClose={onClose} isHeld={isHeld}>
      <ActionForm {...action} act={send} isDialog others={cancel} />
    </Dialog>
  );
}

/** Shows a secret that cannot be shown again: only its button closes it. */
export function ShownOnce({ title, text, label, ifLost, children, onClose }: Secret & { onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose} isHeld>
      {text === null ? (
        <p>
          The connection failed before this page received the {label}, and the service returns it only once. {ifLost}
        </p>
      ) : (
        <>
          <p>Copy it now. You won't be able to see it again.</p>
          <Copyable text={text} label={label} />
        </>
      )}
      {children}
      <Done onClose={onClose} />
    </Dialog>
  );
}

/** The button that closes a finished dialog. */
export function Done({ onClose }: { onClose: () => void }) {
  return (
    <div class="actions end">
      <Button kind="primary" onClick={onClose}>
        Done
      </Button>
    </div>
  );
}
