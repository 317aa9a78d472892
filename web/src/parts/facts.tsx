import type { ComponentChildren } from 'preact';
import { countText } from '../format/amount.js';
import { shownJson } from '../format/untrusted-text.js';
import { Copy } from '../parts/copy.js';

/** A list of names and values. */
export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
  /** A word of explanation. */
  readonly hint?: string;
}

export function Fact({ name, children, hint }: FactProps) {
  return (
    <div class="fact">
      <dt title={hint}>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** At the end of the line of the title. */
  readonly side?: ComponentChildren;
}

/** A part of a page with a title. */
export function Section({ title, children, side }: SectionProps) {
  return (
    <section class="card">
      <header class="card-head">
        <h2>{title}</h2>
        {side !== undefined && <div class="card-side">{side}</div>}
      </header>
      {children}
    </section>
  );
}

/** Characters of JSON that are drawn: a browser stops for seconds over more. */
const MOST_JSON = 400_000;

/** A value as JSON, as an API gave it. */
export function JsonText({ value }: { readonly value: unknown }) {
  const json = JSON.stringify(value, null, 2);
  return (
    <>
      {json.length > MOST_JSON && (
        <p class="muted">
          The first {countText(MOST_JSON)} of {countText(json.length)} characters;{' '}
          <Copy text={json} what="whole JSON" /> copies all of them.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable from the keyboard */}
      <pre class="json" tabIndex={0}>
        {shownJson(json.slice(0, MOST_JSON))}
      </pre>
    </>
  );
}
