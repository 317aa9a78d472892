import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Submit } from '../live/use-submit.js';

interface ActProps<Result> {
  readonly submit: Submit<Result>;
  /** On the button. */
  readonly label: string;
  readonly children?: ComponentChildren;
  /** What was done, in words. */
  readonly done?: (result: Result) => ComponentChildren;
  readonly inline?: boolean;
}

/** A form that does one thing, and says whether it was done. */
export function Act<Result>({ submit, label, children, done, inline = false }: ActProps<Result>) {
  const { run, isRunning, result, problem } = submit;
  return (
    <form
      class={inline ? 'form form-inline' : 'form'}
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      {children}
      <button type="submit" class={`button${inline ? ' button-plain' : ''}`} disabled={isRunning}>
        {isRunning ? 'Working…' : label}
      </button>
      <p class={`form-said${problem === null ? '' : ' bad'}`} aria-live="polite">
        {problem ?? (result !== null && done !== undefined ? done(result) : '')}
      </p>
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly rows?: number;
  readonly mode?: 'text' | 'decimal' | 'numeric';
  readonly required?: boolean;
  /** Shown as dots. */
  readonly secret?: boolean;
  /** Values to choose from, with what they are; others may be typed. */
  readonly suggestions?: readonly (readonly [value: string, title: string])[];
}

export function Field({
  label,
  value,
  onChange,
  placeholder,
  rows,
  mode = 'text',
  required = false,
  secret = false,
  suggestions = [],
}: FieldProps) {
  const id = useId();
  const list = suggestions.length === 0 ? undefined : `${id}-list`;
  const common = { id, value, placeholder, required, spellcheck: false, autocomplete: 'off' } as const;
  return (
    <label for={id}>
      {label}
      {rows === undefined ? (
        <input
          {...common}
          {...(secret ? { type: 'password' } : { inputMode: mode, list })}
          maxLength={4_000}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <textarea {...common} rows={rows} onInput={(event) => onChange(event.currentTarget.value)} />
      )}
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map(([each, title]) => (
            <option key={each} value={each} label={title} />
          ))}
        </datalist>
      )}
    </label>
  );
}
