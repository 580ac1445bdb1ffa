import { element } from './element.ts';
import { chooseLanguage, chosenLanguage } from './language.ts';

/** Shows code in one language at a time, on all pages the same (WAI-ARIA Authoring Practices, "Tabs"). */
export function addTabs(): void {
  const groups = [...document.querySelectorAll<HTMLElement>('.tabs')].map(groupOf);
  const choose = (language: string) => {
    chooseLanguage(language);
    for (const show of groups) show(language);
  };
  function groupOf(group: HTMLElement, number: number): (language: string) => void {
    const figures = [...group.querySelectorAll<HTMLElement>('figure')];
    const buttons = figures.map((figure, i) => {
      const language = figure.dataset.language ?? '';
      const id = `tab-${number}-${i}`;
      const button = element('button', { type: 'button', role: 'tab', id }, language);
      figure.setAttribute('role', 'tabpanel');
      figure.setAttribute('aria-labelledby', id);
      button.addEventListener('click', () => choose(language));
      return button;
    });
    const list = element('div', { role: 'tablist', 'aria-label': 'Language' }, ...buttons);
    list.addEventListener('keydown', ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (step === undefined) return;
      const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
      const next = buttons[(at + step + buttons.length) % buttons.length];
      next?.focus();
      next?.click();
    });
    group.prepend(list);
    const show = (language: string) => {
      const at = Math.max(
        0,
        figures.findIndex((figure) => figure.dataset.language === language),
      );
      figures.forEach((figure, i) => {
        figure.hidden = i !== at;
        buttons[i]?.setAttribute('aria-selected', String(i === at));
        buttons[i]?.setAttribute('tabindex', i === at ? '0' : '-1');
      });
    };
    show(chosenLanguage());
    return show;
  }
}
