import { useMemo, useState } from 'preact/hooks';
import { visible } from '../../../../lib/printable.ts';
import { Button } from './basics.tsx';
import { Scroll } from './scroll.tsx';

/** Characters shown until the user expands the text. */
const MAX_SHOWN = 20_000;

/** A JSON value with syntax colors. Nothing in it can run as code, reorder the text or break the page. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const text = useMemo(() => visible(JSON.stringify(value, null, 2) ?? 'null'), [value]);
  const shown = isWhole ? text : text.slice(0, MAX_SHOWN);
  const parts = useMemo(() => coloured(shown), [shown]); // not again on every refresh of the page
  return (
    <>
      <Scroll label={label} class="json">
        <code>{parts}</code>
      </Scroll>
      {shown.length < text.length && (
        <Button onClick={() => setWhole(true)}>Show all {text.length.toLocaleString()} characters</Button>
      )}
    </>
  );
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;

function coloured(text: string) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [whole, string, colon] = match;
    parts.push(text.slice(end, match.index));
    const kind = string === undefined ? 'literal' : colon === undefined ? 'string' : 'name';
    parts.push(<span class={kind}>{string ?? whole}</span>, colon ?? '');
    end = match.index + whole.length;
  }
  return [...parts, text.slice(end)];
}
