import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useModal } from './dialog.tsx';
import { Icon, type IconName } from './icons.tsx';

interface DrawerProps {
  title: string;
  /** The page with the same content. */
  href: string;
  /** Identifies the content. Other content scrolls back to its start. */
  of: string;
  /** The previous and next entry of the list. They are missing at its ends. */
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog at the side of the page for an entry of a list. Escape and a click outside close it, and j and k select other entries. */
export function Drawer({ title, href, of, onPrevious, onNext, onClose, children }: DrawerProps) {
  const dialog = useModal();
  const heading = useRef<HTMLHeadingElement>(null);
  const isClosing = useRef(false); // navigation is asynchronous, so a second Escape would go back twice
  const id = useId();
  const close = () => {
    if (isClosing.current) return;
    isClosing.current = true;
    onClose();
  };
  useLayoutEffect(() => heading.current?.focus(), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls up for each new subject
  useLayoutEffect(() => dialog.current?.scrollTo(0, 0), [of]);
  // `useEffect` runs after the paint, so a quick second press would still go to the neighbors of the previous entry.
  useLayoutEffect(() => {
    const move = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (ctrlKey || metaKey || altKey) return;
      if (key === 'j') onNext?.();
      if (key === 'k') onPrevious?.();
    };
    addEventListener('keydown', move);
    return () => removeEventListener('keydown', move);
  }, [onNext, onPrevious]);
  return (
    <dialog
      ref={dialog}
      class="drawer"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClose={({ currentTarget }) => {
        if (currentTarget.isConnected) close(); // closed by the browser, because not every Escape can be prevented
      }}
      onPointerDown={({ target, currentTarget, button }) => {
        if (target === currentTarget && button === 0) close();
      }}
    >
      <div>
        <header>
          <h2 id={id} ref={heading} tabIndex={-1}>
            {title}
          </h2>
          <div class="actions">
            <a class="button quiet" href={href} aria-label="Open page" title="Open page">
              <Icon name="page" />
            </a>
            <IconButton icon="up" label="Previous" shortcut="k" onClick={onPrevious} />
            <IconButton icon="down" label="Next" shortcut="j" onClick={onNext} />
            <IconButton icon="bad" label="Close" onClick={close} />
          </div>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface IconButtonProps {
  icon: IconName;
  label: string;
  shortcut?: string;
  onClick: (() => void) | undefined;
}

/** A disabled button keeps the focus. */
function IconButton({ icon, label, shortcut, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      class="button quiet"
      aria-label={label}
      title={shortcut ? `${label} (${shortcut})` : label}
      aria-keyshortcuts={shortcut}
      aria-disabled={!onClick || undefined}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
