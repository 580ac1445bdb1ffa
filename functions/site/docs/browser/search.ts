import { excerptOf, splitAtMatches } from '../search/excerpt.ts';
import type { Place } from '../search/place.ts';
import { queryOf } from '../search/query.ts';
import { createSearch } from '../search/rank.ts';
import { element } from './element.ts';

/** Adds search over the index of the pages. The keys `/` and Ctrl+K focus it (WAI-ARIA Authoring Practices, "Combobox"). */
export function addSearch(): void {
  const bar = document.querySelector<HTMLElement>('.bar');
  const input = bar?.querySelector('input');
  if (!bar || !input) return;
  // URLs in the index are relative to the base URL of the API.
  const home = new URL(bar.querySelector<HTMLAnchorElement>('.brand')?.href ?? '').href.replace(/docs$/, '');
  const list = element('ul', { role: 'listbox', id: 'results', hidden: true, 'aria-label': 'Results' });
  input.after(list);
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'results',
    'aria-autocomplete': 'list',
  }))
    input.setAttribute(name, value);

  let ready: Promise<((query: string) => Place[]) | undefined> | undefined;
  let active = -1;
  /** The search for the current input. The first one waits for the index. */
  let searching = Promise.resolve();
  const load = () => {
    ready ??= fetch(bar.dataset.search ?? '')
      .then(async (response) => createSearch(await response.json()))
      .catch(() => {
        ready = undefined; // the next input loads it again
        return undefined;
      });
    return ready;
  };
  const options = () => [...list.querySelectorAll<HTMLElement>('[role=option]')];
  const show = (isOpen: boolean) => {
    list.hidden = !isOpen;
    input.setAttribute('aria-expanded', String(isOpen));
  };
  const activate = (index: number) => {
    const all = options();
    active = all.length === 0 ? -1 : (index + all.length) % all.length;
    for (const [i, option] of all.entries()) option.setAttribute('aria-selected', String(i === active));
    all[active]?.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', all[active]?.id ?? '');
  };
  const search = async () => {
    const find = await load();
    if (!find) return;
    const query = queryOf(input.value);
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const items = find(query).map((place, i) => {
      const title = place.heading === '' ? place.page : `${place.page}: ${place.heading}`;
      const link = element(
        'a',
        { href: home + place.href, tabIndex: -1 },
        element('b', {}, ...marked(title, words), element('small', {}, place.chapter)),
        element('span', {}, ...marked(excerptOf(place.text, words), words)),
      );
      return element('li', { role: 'option', id: `result-${i}`, 'aria-selected': 'false' }, link);
    });
    const all = element('a', { href: `${home}docs` }, 'All guides');
    const nothing = element('li', { className: 'nothing' }, 'Nothing found. ', all);
    list.replaceChildren(...(items.length > 0 ? items : [nothing]));
    show(words.length > 0);
    activate(0);
  };
  input.addEventListener('focus', () => void load());
  input.addEventListener('input', () => {
    searching = search();
  });
  input.addEventListener('keydown', (event) => {
    if (event.isComposing) return; // the keys belong to the input method
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      activate(active + step);
      if (active >= 0) show(true);
    } else if (event.key === 'Enter')
      void searching.then(() => !list.hidden && options()[active]?.querySelector('a')?.click());
    else if (event.key === 'Escape') show(false);
    else return;
    event.preventDefault();
  });
  list.addEventListener('click', () => show(false));
  document.addEventListener('click', ({ target }) => {
    if (!bar.contains(target as Node)) show(false);
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = (event.target as HTMLElement).closest('input, textarea, select');
    const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey);
    if (!isShortcut && (event.key !== '/' || isTyping)) return;
    event.preventDefault();
    input.focus();
  });
}

/** A text whose matches are marked. */
const marked = (text: string, words: readonly string[]): (string | Node)[] =>
  splitAtMatches(text, words).map((part, i) => (i % 2 === 1 ? element('mark', {}, part) : part));
