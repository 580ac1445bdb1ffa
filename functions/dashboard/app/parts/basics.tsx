import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../api.ts';
import type { Loaded } from '../hooks.ts';
import { faultText } from '../session.ts';

interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  type?: 'button' | 'submit';
  kind?: 'primary' | 'danger' | 'quiet' | 'plain';
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

/** The heading of a page: takes the focus when the page opens, so that keyboard and screen reader begin here. */
export function PageTitle({ children, actions }: { children: string; actions?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${children} · Dashboard`;
    heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [children]);
  return (
    <header class="page-title">
      <h1 ref={heading} tabIndex={-1}>
        {children}
      </h1>
      {actions && <div class="actions">{actions}</div>}
    </header>
  );
}

export function Panel({
  title,
  children,
  actions,
}: {
  title?: string;
  children: ComponentChildren;
  actions?: ComponentChildren;
}) {
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

export function Fault({ problem }: { problem: Problem | string | undefined }) {
  if (problem === undefined) return null;
  return (
    <p class="callout fault" role="alert">
      {typeof problem === 'string' ? problem : faultText(problem)}
    </p>
  );
}

export function Callout({ kind, children }: { kind: 'warning' | 'info'; children: ComponentChildren }) {
  return <div class={`callout ${kind}`}>{children}</div>;
}

export function Empty({ children, action }: { children: ComponentChildren; action?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {action}
    </div>
  );
}

/** What was loaded, or that it is on its way, or why it is not there. */
export function Await<Value>({ of, children }: { of: Loaded<Value>; children: (value: Value) => ComponentChildren }) {
  if (of.value !== undefined) return <div aria-busy={of.loading}>{children(of.value)}</div>;
  if (of.problem) {
    return (
      <div class="empty">
        <Fault problem={of.problem} />
        <Button onClick={of.reload}>Try again</Button>
      </div>
    );
  }
  return (
    <output class="loading">
      <progress aria-label="Loading" /> Loading …
    </output>
  );
}

export type Tone = 'good' | 'bad' | 'waiting' | 'off';
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** A text to take along, with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const code = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      if (code.current) getSelection()?.selectAllChildren(code.current); // the browser refuses: ready for Ctrl-C
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div class="copyable">
      <code ref={code}>{text}</code>
      <Button onClick={copy} label={`Copy ${label}`}>
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
      <output class="visually-hidden">{isCopied ? 'Copied' : ''}</output>
    </div>
  );
}

/** Names and values, one under the other. */
export function Facts({ children }: { children: [name: string, value: ComponentChildren][] }) {
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

export function ButtonLink({
  href,
  children,
  kind = 'plain',
}: {
  href: string;
  children: ComponentChildren;
  kind?: string;
}) {
  return (
    <a class={`button ${kind}`} href={href}>
      {children}
    </a>
  );
}

interface FormProps {
  onSubmit: () => void;
  children: ComponentChildren;
  class?: string;
  role?: 'search';
}

/** A form that the browser neither checks nor sends. */
export function Form({ onSubmit, children, ...rest }: FormProps) {
  return (
    <form
      noValidate
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
