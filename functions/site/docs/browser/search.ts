import { element } from './element.ts';

interface Place {
  page: string;
  heading: string;
  href: string;
  text: string;
}

const MAX_RESULTS = 12;
/** The number of characters in an excerpt around a match. */
const EXCERPT = 110;

/** Adds search over the index of the pages. The key `/` focuses it (WAI-ARIA Authoring Practices, "Combobox"). */
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

  let places: Promise<Place[]> | undefined;
  let active = -1;
  const load = () => {
    places ??= fetch(bar.dataset.search ?? '').then((response) => response.json());
    return places;
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
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const results = words.length === 0 ? [] : ranked(await load(), words);
    const items = results.map((place, i) => {
      const title = place.heading === '' ? place.page : `${place.page}: ${place.heading}`;
      const link = element(
        'a',
        { href: home + place.href, tabIndex: -1 },
        element('b', {}, title),
        excerpt(place, words),
      );
      return element('li', { role: 'option', id: `result-${i}`, 'aria-selected': 'false' }, link);
    });
    const nothing = element('li', { className: 'nothing' }, 'Nothing found');
    list.replaceChildren(...(items.length > 0 ? items : [nothing]));
    show(words.length > 0);
    activate(0);
  };
  input.addEventListener('focus', () => void load());
  input.addEventListener('input', () => void search());
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) activate(active + step);
    else if (event.key === 'Enter') options()[active]?.querySelector('a')?.click();
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
    if (event.key !== '/' || isTyping) return;
    event.preventDefault();
    input.focus();
  });
}

/** Returns the places that contain every word, and places with matching headings first. */
function ranked(places: readonly Place[], words: readonly string[]): Place[] {
  const score = ({ page, heading, text }: Place): number => {
    const [title, body] = [`${page} ${heading}`.toLowerCase(), text.toLowerCase()];
    const scores = words.map((word) => (title.includes(word) ? 10 : 0) + (body.includes(word) ? 1 : 0));
    return scores.includes(0) ? 0 : scores.reduce((total, each) => total + each, 0);
  };
  return places
    .map((place) => ({ place, points: score(place) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, MAX_RESULTS)
    .map(({ place }) => place);
}

function excerpt({ text }: Place, words: readonly string[]): HTMLElement {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0] ?? ''));
  const from = Math.max(0, at - EXCERPT / 3);
  return element('span', {}, `${from > 0 ? '…' : ''}${text.slice(from, from + EXCERPT)}…`);
}
