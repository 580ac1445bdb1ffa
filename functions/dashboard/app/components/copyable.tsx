import { useRef, useState } from 'preact/hooks';
import { Button } from './basics.tsx';

/** A text with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const code = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      if (code.current) getSelection()?.selectAllChildren(code.current); // no clipboard access: select it for Ctrl-C
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
