import { useState } from 'preact/hooks';
import { countText } from '../format/amount.js';
import { shownLine, shownText } from '../format/untrusted-text.js';

interface UntrustedProps {
  readonly text: string;
  /** Characters that are shown at first. */
  readonly most?: number;
  /** On several lines, with a button for the rest. */
  readonly block?: boolean;
}

/** Characters that one press of the button adds. */
const STEP = 4_000;

/** A text of so many characters may be higher than its box. */
const SCROLLS = 400;

/** A text that somebody else chose. It is isolated from the direction and the box of what is around it. */
export function Untrusted({ text, most = 80, block = false }: UntrustedProps) {
  const [shown, setShown] = useState(most);
  if (!block) {
    const { text: line, cut } = shownLine(text, most);
    return (
      <bdi class="untrusted" title={cut > 0 ? shownText(text, 1_000).text : undefined}>
        {line === '' ? <i class="muted">empty</i> : line}
        {cut > 0 ? '…' : ''}
      </bdi>
    );
  }
  const { text: part, cut } = shownText(text, shown);
  return (
    <span class="untrusted-block" tabIndex={part.length > SCROLLS ? 0 : undefined}>
      <bdi>{part === '' ? <i class="muted">empty</i> : part}</bdi>
      {cut > 0 && (
        <>
          {'… '}
          <button type="button" class="link" onClick={() => setShown(shown + STEP)}>
            {countText(cut)} more characters
          </button>
        </>
      )}
    </span>
  );
}
