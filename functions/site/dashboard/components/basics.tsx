import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { Icon, type IconName } from './icons.tsx';

interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  type?: 'button' | 'submit';
  kind?: 'primary' | 'danger' | 'quiet' | 'plain' | 'bare';
  busy?: boolean;
  disabled?: boolean;
  label?: string;
}

export function Button({
  children,
  onClick,
  type = 'button',
  kind = 'plain',
  busy = false,
  disabled,
  label,
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind}`}
      onClick={onClick}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      disabled={disabled}
      aria-label={label}
    >
      {children}
    </button>
  );
}

interface PageTitleProps {
  children: string;
  subtitle?: ComponentChildren;
  actions?: ComponentChildren;
}

/** The heading of a page. It takes the focus when the page opens, so that keyboards and screen readers start here. */
export function PageTitle({ children, subtitle, actions }: PageTitleProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${children} · Dashboard`;
  }, [children]);
  // Only when the page opens, because a refresh with another title must not take the focus from a field.
  useLayoutEffect(() => {
    heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  return (
    <header class="page-title">
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {children}
        </h1>
        {subtitle && <div class="subtitle">{subtitle}</div>}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </header>
  );
}

interface PanelProps {
  title?: string;
  children: ComponentChildren;
  actions?: ComponentChildren;
}

export function Panel({ title, children, actions }: PanelProps) {
  return (
    <section class="panel">
      {title && (
        <header>
          <h2>{title}</h2>
          {actions && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

export type Tone = 'good' | 'bad' | 'waiting' | 'off';

/** A status. The icon is for users who cannot distinguish colors. */
export function Badge({ tone, icon = tone, children }: { tone: Tone; icon?: IconName; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      <Icon name={icon} />
      {children}
    </span>
  );
}

export const Warning = ({ children }: { children: string }) => (
  <Badge tone="waiting" icon="warning">
    {children}
  </Badge>
);

export type Fact = [name: string, value: ComponentChildren];

/** A list of names and values. */
export function Facts({ children }: { children: Fact[] }) {
  return (
    <dl class="facts">
      {children.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface LinkProps {
  /** The path of the page in the environment. */
  to: readonly string[];
  query?: Record<string, string | undefined> | undefined;
  children: ComponentChildren;
  class?: string;
  title?: string;
  onClick?: () => void;
}

/** A link to a page of the current environment. */
export function Link({ to, query, ...rest }: LinkProps) {
  const { environment } = useSession();
  return <a href={linkTo(environment, to, query)} {...rest} />;
}

export const ButtonLink = ({ kind = 'plain', ...link }: LinkProps & { kind?: 'primary' | 'plain' }) => (
  <Link class={`button ${kind}`} {...link} />
);

interface FormProps {
  onSubmit: () => void;
  children: ComponentChildren;
  class?: string;
  role?: 'search';
}

/** A form that the browser neither validates nor submits. The first invalid field takes the focus after a submission. */
export function Form({ onSubmit, children, ...rest }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const isSubmitted = useRef(false);
  // `useLayoutEffect` runs before the fields of a form with a request show its problem.
  useEffect(() => {
    const invalid = isSubmitted.current && form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    if (!invalid) return;
    isSubmitted.current = false;
    for (const closed of form.current?.querySelectorAll('details') ?? []) closed.open ||= closed.contains(invalid);
    invalid.focus();
  });
  return (
    <form
      ref={form}
      noValidate
      {...rest}
      onInput={() => {
        isSubmitted.current = false;
      }}
      onSubmit={(event) => {
        event.preventDefault();
        isSubmitted.current = true;
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
