import { element } from './element.ts';

/** Adds a copy button to every code block. */
export function addCopyButtons(): void {
  for (const figure of document.querySelectorAll('figure')) {
    const button = element('button', { type: 'button', className: 'copy' }, 'Copy');
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code')?.textContent ?? '');
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1500);
    });
    figure.append(button);
  }
}
