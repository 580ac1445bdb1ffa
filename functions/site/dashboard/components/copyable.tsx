import { useRef, useState } from 'preact/hooks';
import { Button } from './basics.tsx';
import { Icon } from './icons.tsx';

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

/** An id with a small button that copies it. */
export const Id = ({ of: id }: { of: string }) => (
  <>
    <code>{id}</code> <CopyButton text={id} label="Copy the ID" />
  </>
);

interface CopyProps {
  text: string;
  label?: string;
  /** The browser gives no access to the clipboard. */
  onDenied?: () => void;
  /** Without a text, the button is an icon. */
  children?: string;
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
      <Button onClick={copy} kind={children ? 'plain' : 'bare'} {...(label && { label })}>
        {children ? isCopied ? 'Copied' : children : <Icon name={isCopied ? 'good' : 'copy'} />}
      </Button>
      <output class="visually-hidden">{isCopied ? 'Copied' : ''}</output>
    </>
  );
}
