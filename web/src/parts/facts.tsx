import type { ComponentChildren } from 'preact';
import { shownJson } from '../format/untrusted-text.js';

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

/** A value as JSON, as an API gave it. */
export function JsonText({ value }: { readonly value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable from the keyboard
    <pre class="json" tabIndex={0}>
      {shownJson(JSON.stringify(value, null, 2).slice(0, 400_000))}
    </pre>
  );
}
