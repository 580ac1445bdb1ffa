import type { ComponentChildren, TargetedMouseEvent } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** A column: its title, its cells and, if they need one, their class. The first column names the row. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => ComponentChildren, className?: string];

/** The selected rows by key, and the name of a row. */
interface Selection<Row> {
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
  nameOf: (row: Row) => string;
}

/** The actions for the selected rows, with their number. It follows the table, so that the rows keep their place. */
export function ChosenBar({ count, children }: { count: number; children: ComponentChildren }) {
  if (count === 0) return null;
  return (
    <div class="selection">
      <span aria-live="polite">{count} selected</span>
      {children}
    </div>
  );
}

/** Rows that a click opens over the table. By keyboard, the link in the first column opens a row. */
export interface Opening {
  /** The key of the open row, or an empty text. */
  open: string;
  onOpen: (key: string) => void;
}

interface TableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Every row is one line. */
  isDense?: boolean;
  selection?: Selection<Row>;
  opening?: Opening;
}

/** Shows a list as a table. On a phone, each row is a card. */
export function Table<Row>({ caption, columns, rows, keyOf, isDense, selection, opening }: TableProps<Row>) {
  useReturnedFocus(opening?.open);
  return (
    <table class={isDense ? 'list dense' : 'list'}>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {selection && (
            <td class="choose">
              <ChooseAll keys={rows.map(keyOf)} {...selection} />
            </td>
          )}
          {columns.map(([title, , className]) => (
            <th key={title} scope="col" class={className}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            class={opening && 'opens'}
            aria-current={opening?.open === keyOf(row) || undefined}
            onClick={opening && ((event) => opensRow(event) && opening.onOpen(keyOf(row)))}
          >
            {selection && (
              <td class="choose">
                <ChooseOne of={row} name={keyOf(row)} {...selection} />
              </td>
            )}
            {columns.map(([title, cell, className], i) =>
              i === 0 ? (
                <th key={title} scope="row" class={className} id={opening && idOf(keyOf(row))}>
                  {cell(row)}
                </th>
              ) : (
                <td key={title} data-label={title} class={className}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const idOf = (key: string): string => `row-${key}`;

/** Whether a click opens the row. Clicks that open a new tab, select text or hit another control do not. */
function opensRow(event: TargetedMouseEvent<HTMLElement>): boolean {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false;
  const target = event.target as Element;
  const isOwnLink = target.closest('th a') !== null;
  if (!isOwnLink && (target.closest('a, button, .choose') || getSelection()?.isCollapsed === false)) return false;
  event.preventDefault();
  return true;
}

/** Returns the focus to the row that was open last. */
function useReturnedFocus(open: string | undefined): void {
  useLayoutEffect(() => {
    if (!open) return;
    return () => document.getElementById(idOf(open))?.querySelector('a')?.focus();
  }, [open]);
}

type ChooseAllProps = Pick<Selection<never>, 'chosen' | 'onChange'> & { keys: readonly string[] };

function ChooseAll({ keys, chosen, onChange }: ChooseAllProps) {
  const count = keys.filter((key) => chosen.has(key)).length;
  return (
    <input
      type="checkbox"
      aria-label="Select all on this page"
      checked={keys.length > 0 && count === keys.length}
      indeterminate={count > 0 && count < keys.length}
      onChange={(event) => onChange(new Set(event.currentTarget.checked ? keys : []))}
    />
  );
}

function ChooseOne<Row>({ of: row, name, chosen, onChange, nameOf }: Selection<Row> & { of: Row; name: string }) {
  const toggle = (isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(name);
    else next.delete(name);
    onChange(next);
  };
  return (
    <input
      type="checkbox"
      aria-label={`Select ${nameOf(row)}`}
      checked={chosen.has(name)}
      onChange={(event) => toggle(event.currentTarget.checked)}
    />
  );
}

interface PagerProps {
  cursor: string | undefined;
  next: string | null;
  /** The address of the page at a cursor, or of the first one. */
  at: (page: { cursor?: string }) => string;
  names?: readonly [first: string, next: string];
  children?: ComponentChildren;
}

/** Links to the first and the next page of a list, where there are any. A new page starts with its first row. */
export function Pager({ cursor, next, at, names: [first, following] = ['Newest', 'Older'], children }: PagerProps) {
  const row = useRef<HTMLDivElement>(null);
  const page = (name: string, href: string) => (
    <a class="button plain" href={href}>
      {name}
    </a>
  );
  useLayoutEffect(() => {
    const table = row.current?.parentElement?.querySelector('table');
    if (cursor && table && table.getBoundingClientRect().top < 0) table.scrollIntoView();
  }, [cursor]);
  return (
    <div class="actions" ref={row}>
      {children}
      {cursor && page(first, at({}))}
      {next && page(following, at({ cursor: next }))}
    </div>
  );
}
