import { useEffect, useId, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { Button } from '../components/basics.tsx';
import { useModal } from '../components/dialog.tsx';
import { Icon } from '../components/icons.tsx';
import { exactKeyText } from '../components/similar-keys.ts';
import { useKeys } from '../keys/keys.tsx';
import { all } from '../state/api.ts';
import { useLoaded } from '../state/hooks.ts';
import { goTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { destinationsOf, matches } from './destinations.ts';
import { useNamed } from './named-places.ts';

/** A button that opens the list of places. So do the keys `/` and Ctrl+K, which open the search of the documentation. */
export function Finder() {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest('input, textarea, select');
      const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey);
      if ((!isShortcut && (event.key !== '/' || isTyping)) || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      setIsOpen(true);
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  return (
    <>
      <Button label="Go to" onClick={() => setIsOpen(true)}>
        <Icon name="search" /> <span>Go to</span> <kbd>/</kbd>
      </Button>
      {isOpen && <FinderDialog onClose={() => setIsOpen(false)} />}
    </>
  );
}

/** Finds pages, webhooks, keys, events and documents (WAI-ARIA Authoring Practices, "Combobox"). */
function FinderDialog({ onClose }: { onClose: () => void }) {
  const { call, environment, can } = useSession();
  const dialog = useModal();
  const id = useId();
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<string>(); // the `href`, because results that arrive later move the others
  const webhooks = useLoaded(environment, () => all(call, 'GET /v1/webhooks'));
  const keys = useKeys();
  const destinations = useMemo(
    () => destinationsOf({ environment, can }, webhooks.value ?? [], keys.value ?? []),
    [environment, can, webhooks.value, keys.value],
  );
  const named = useNamed(typed);
  const found = [...matches(destinations, typed), ...named.destinations];
  const active = Math.max(
    0,
    found.findIndex(({ href }) => href === chosen),
  );
  useLayoutEffect(() => document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' }), [id, active]);
  const open = (index: number) => {
    const destination = found[index];
    if (!destination) return;
    onClose();
    goTo(destination.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return; // the keys belong to the input method
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen(found[(active + step + found.length) % found.length]?.href);
    else if (event.key === 'Enter') open(active);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="finder"
      aria-label="Go to"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === event.currentTarget && onClose()}
      onKeyDown={onKeyDown}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Go to"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={`${id}-${active}`}
        placeholder="Page, webhook, key, event id or document key"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setChosen(undefined);
        }}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Results">
        {found.map(({ kind, name, href }, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
          <div
            key={href}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === active}
            onClick={() => open(i)}
          >
            <span>{name}</span> <small>{kind}</small>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="muted">Nothing found. {named.example && exactKeyText(named.example)}</p>}
    </dialog>
  );
}
