import { useLayoutEffect } from 'preact/hooks';

/**
 * Moves the focus when the control that has it disappears, to the first field of its form or else to the heading. Otherwise screen
 * readers start again at the top of the document.
 */
export function useKeptFocus(): void {
  useLayoutEffect(() => {
    let focused: Element | undefined;
    let form: Element | null = null;
    const note = ({ target }: FocusEvent) => {
      focused = target as Element;
      form = focused.closest('form');
    };
    // Some browsers send this event for a control that is being removed.
    const forget = ({ target }: FocusEvent) =>
      queueMicrotask(() => {
        if (target === focused && focused?.isConnected && focused !== document.activeElement) focused = undefined;
      });
    const keep = () => {
      if (!focused || focused.isConnected || document.activeElement !== document.body) return;
      const field = form?.isConnected ? form.querySelector<HTMLElement>('input, textarea, select') : null;
      (field ?? document.querySelector('h1'))?.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(keep);
    observer.observe(document.body, { childList: true, subtree: true });
    addEventListener('focusin', note);
    addEventListener('focusout', forget);
    return () => {
      observer.disconnect();
      removeEventListener('focusin', note);
      removeEventListener('focusout', forget);
    };
  }, []);
}
