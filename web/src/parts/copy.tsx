import { useEffect, useState } from 'preact/hooks';

interface CopyProps {
  readonly text: string;
  /** What is copied, for screen readers: `address` */
  readonly what: string;
}

const SHOWN_MS = 1_600;

/** Copies a text, and says so for a moment. */
export function Copy({ text, what }: CopyProps) {
  const [said, setSaid] = useState<'' | 'copied' | 'not copied'>('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => setSaid(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <button
      type="button"
      class={`copy${said === 'copied' ? ' copy-done' : ''}`}
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => copyText(text).then((isDone) => setSaid(isDone ? 'copied' : 'not copied'))}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {said === 'copied' ? <path d="M3 8.5l3.2 3.2L13 5" /> : <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />}
      </svg>
      <span class="visually-hidden" role="status">
        {said}
      </span>
    </button>
  );
}

/** Pages that did not come by HTTPS or from this machine have no clipboard: then a hidden field is copied. */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  return isDone;
}
