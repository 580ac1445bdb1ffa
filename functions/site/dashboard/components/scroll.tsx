import type { ComponentChildren } from 'preact';

interface ScrollProps {
  label: string;
  class?: string;
  children: ComponentChildren;
}

/** Shows text of many lines, such as code, in a scrollable box. */
export function Scroll({ label, children, ...rest }: ScrollProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={label}>
      <pre dir="ltr" {...rest}>
        {children}
      </pre>
    </section>
  );
}
