/** Icons with uniform lines on a grid of 16, in the color of the text. */
const SHAPES = {
  up: 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
  down: 'M8 3v10M3.5 8.5 8 13l4.5-4.5',
  overview: 'M2.5 13.5v-5m3.7 5v-11m3.6 11v-7m3.7 7V4',
  events: 'M8.8 1.5 3.2 9h4.3l-.8 5.5L12.8 7H8.2z',
  webhooks: 'M14 2 7.2 8.8M14 2 9.8 14 7.2 8.8 2 6.2z',
  keys: 'm7.9 8.1-5.4 5.4m2.2-2.2 2 2m.5-8.2a3.3 3.3 0 1 0 6.6 0 3.3 3.3 0 0 0-6.6 0z',
  tokens: 'M2 4h12v2.3a1.8 1.8 0 0 0 0 3.4V12H2V9.7a1.8 1.8 0 0 0 0-3.4zm7.5 1.8v.6m0 1.3v.6m0 1.3v.6',
  documents: 'M3.5 1.5h6L12.5 5v9.5h-9zm6 0V5h3M6 8.3h4m-4 2.9h4',
  links:
    'M6.8 9.2a2.7 2.7 0 0 0 3.8 0l2.6-2.6a2.7 2.7 0 0 0-3.8-3.8l-.9.9m.7 3.1a2.7 2.7 0 0 0-3.8 0L2.8 9.4a2.7 2.7 0 0 0 3.8 3.8l.9-.9',
  settings: 'M2 4.5h5m4 0h3m-12 7h3m4 0h5M9 2.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4zm-2 7a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  docs: 'M8 3.5c-1.5-1-3.5-1.2-6-1v10c2.5-.2 4.5 0 6 1 1.5-1 3.5-1.2 6-1v-10c-2.5-.2-4.5 0-6 1zm0 0v10',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zm3.3 7.8 3.2 3.2',
  good: 'm2.5 8.5 3.7 3.7 7.3-8',
  bad: 'm3.5 3.5 9 9m0-9-9 9',
  waiting: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zm0 2.9V8l2.3 1.7',
  warning: 'M8 2 1.5 13.8h13zm0 4.5v3.2m0 1.9v.1',
  off: 'M3 8h10',
  copy: 'M5.5 5.5h8v8h-8zm5 0v-3h-8v8h3',
  page: 'M9.5 2.5h4v4m0-4-6 6M6 3.5H3.5a1 1 0 0 0-1 1v8a1 1 0 0 0 1 1h8a1 1 0 0 0 1-1V10',
} as const;
export type IconName = keyof typeof SHAPES;

/** An icon next to a text with the same meaning, or in a button with a label. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={SHAPES[name]} />
  </svg>
);
