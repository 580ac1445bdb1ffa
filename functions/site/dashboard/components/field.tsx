import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useViolation } from './violations.ts';

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  /** The member of the request of the form, whose violation is an error of the field. */
  name?: string;
  /** The entries of a list, because a violation has the number of its entry. */
  entries?: readonly string[];
  /** Another error. */
  error?: string | undefined;
  children: (attributes: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean | undefined;
  }) => ComponentChildren;
}

/** A control with its label, hint and error. */
export function Field({ label, hint, name, entries, error: other, children }: FieldProps) {
  const id = useId();
  const error = useViolation(name, entries) ?? other;
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {error && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {label} {error}.
        </p>
      )}
    </div>
  );
}

interface InputProps extends Omit<FieldProps, 'children'> {
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'url' | 'datetime-local';
  placeholder?: string;
}

export function Input({ value, onInput, type = 'text', placeholder, ...field }: InputProps) {
  return (
    <Field {...field}>
      {(attributes) => (
        <input
          {...attributes}
          {...({ type } as { type: 'text' })}
          value={value}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type TextAreaProps = Omit<InputProps, 'type'> & { rows?: number };

/** Text of several lines, such as JSON. */
export function TextArea({ value, onInput, placeholder, rows = 3, ...field }: TextAreaProps) {
  return (
    <Field {...field}>
      {(attributes) => (
        <textarea
          {...attributes}
          rows={rows}
          value={value}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          dir="ltr"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SelectProps extends Omit<FieldProps, 'children'> {
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

export function Select({ value, options, onChange, ...field }: SelectProps) {
  return (
    <Field {...field}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option} selected={option === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface ChoicesProps<Option extends string> {
  legend: string;
  /** The member of the request of the form. */
  name?: string;
  options: readonly (readonly [value: Option, text: ComponentChildren, meaning?: string])[];
  value: readonly Option[];
  onInput: (chosen: Option[]) => void;
  /** The label of a checkbox that selects all. */
  all?: string;
  type?: 'radio' | 'checkbox';
}

/** Checkboxes, each with an explanation. */
export function Choices<Option extends string>({
  legend,
  name,
  options,
  value: chosen,
  onInput,
  all,
  type = 'checkbox',
}: ChoicesProps<Option>) {
  const id = useId();
  const error = useViolation(name);
  const toggle = (option: Option, isOn: boolean) => {
    if (type === 'radio') onInput([option]);
    else onInput(options.map(([each]) => each).filter((each) => (each === option ? isOn : chosen.includes(each))));
  };
  return (
    <fieldset class="field choices" aria-describedby={error ? `${id}-error` : undefined}>
      <legend>{legend}</legend>
      {all && (
        <label class="choice">
          <input
            type="checkbox"
            checked={chosen.length === options.length}
            indeterminate={chosen.length > 0 && chosen.length < options.length}
            onChange={(event) => onInput(event.currentTarget.checked ? options.map(([each]) => each) : [])}
          />
          {all}
        </label>
      )}
      {options.map(([option, text, meaning]) => (
        <label key={option} class="choice">
          <input
            type={type}
            name={id}
            value={option}
            aria-invalid={error ? true : undefined}
            checked={chosen.includes(option)}
            onChange={(event) => toggle(option, event.currentTarget.checked)}
          />
          <span>
            {text}
            {meaning && <small>{meaning}</small>}
          </span>
        </label>
      ))}
      {error && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {legend} {error}.
        </p>
      )}
    </fieldset>
  );
}

interface ChoiceProps<Option extends string> extends Pick<ChoicesProps<Option>, 'legend' | 'name' | 'options'> {
  value: Option;
  onInput: (chosen: Option) => void;
}

/** Radio buttons, each with an explanation. */
export const Choice = <Option extends string>({ value, onInput, ...choices }: ChoiceProps<Option>) => (
  <Choices type="radio" value={[value]} onInput={([chosen = value]) => onInput(chosen)} {...choices} />
);
