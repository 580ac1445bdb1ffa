import type { ComponentChildren } from 'preact';
import { ButtonLink } from './basics.tsx';

/** A column: its title and its cells. The first column names the row. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => ComponentChildren];

interface TableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}

/** A list as a table; on a phone each row is a card. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  return (
    <table class="list">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(([title]) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(([title, cell], i) =>
              i === 0 ? (
                <th key={title} scope="row">
                  {cell(row)}
                </th>
              ) : (
                <td key={title} data-label={title}>
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

interface PagerProps {
  cursor: string | undefined;
  next: string | null;
  /** The address of the page at a cursor, or of the first one. */
  at: (page: { cursor?: string }) => string;
  names?: readonly [first: string, next: string];
  children?: ComponentChildren;
}

/** Links to the first and the next page of a list, where there are any. */
export function Pager({ cursor, next, at, names: [first, following] = ['Newest', 'Older'], children }: PagerProps) {
  return (
    <div class="actions">
      {children}
      {cursor && <ButtonLink href={at({})}>{first}</ButtonLink>}
      {next && <ButtonLink href={at({ cursor: next })}>{following}</ButtonLink>}
    </div>
  );
}
