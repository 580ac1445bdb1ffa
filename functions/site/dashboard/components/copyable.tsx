import { useRef, useState } from 'preact/hooks';
import { Button } from './basics.tsx';

/** A text with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const code = useRef<HTMLElement>(null);
  return (
    <div class="copyable">
      <code ref={code}>{text}</code>
      <CopyButton
        text={text}
        label={`Copy ${label}`}
        onDenied={() => code.current && getSelection()?.selectAllChildren(code.current)} // for Ctrl-C
      >
        Copy
      </CopyButton>
    </div>
  );
}

interface CopyProps {
  text: string;
  label?: string;
  /** The browser gives no access to the clipboard. */
  onDenied?: () => void;
  children: string;
}

export function CopyButton({ text, label, onDenied, children }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      return onDenied?.();
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <>
      <Button onClick={copy} {...(label && { label })}>
        {isCopied ? 'Copied' : children}
      </Button>
      <output class="visually-hidden">{isCopied ? 'Copied' : ''}</output>
    </>
  );
}
