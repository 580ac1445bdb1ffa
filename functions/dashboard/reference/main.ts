import './styles.css';

declare const SwaggerUIBundle: (options: Record<string, unknown>) => void;

// This class turns on Swagger UI's dark theme.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: false,
  validatorUrl: null,
  syntaxHighlight: { theme: 'nord' },
});

// Swagger UI gives its select elements no accessible names.
const NAMES = [
  ['#servers', 'Server'],
  ['.examples-select-element', 'Example'],
  ['.content-type', 'Media type'],
  ['.parameters select', 'Value'],
] as const;
new MutationObserver(() => {
  for (const [selector, name] of NAMES) {
    for (const select of document.querySelectorAll(`${selector}:not([aria-label])`))
      select.setAttribute('aria-label', name);
  }
}).observe(document.body, { childList: true, subtree: true });
