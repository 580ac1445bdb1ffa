import { useLayoutEffect, useRef } from 'preact/hooks';
import { TextArea } from '../components/field.tsx';

interface FieldsInputProps {
  value: string;
  onInput: (text: string) => void;
  takesFocus?: boolean;
}

/** The editor of the fields of a document. */
export function FieldsInput({ takesFocus = false, ...props }: FieldsInputProps) {
  const editor = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (takesFocus) editor.current?.querySelector('textarea')?.focus();
  }, [takesFocus]);
  return (
    <div class="editor" ref={editor}>
      <TextArea
        label="Fields"
        hint="A JSON object. The document then has these fields and no others."
        rows={14}
        {...props}
      />
    </div>
  );
}
