import type { ComponentChildren } from 'preact';

/** Around a table that may be wider than a phone: it scrolls by itself, also from the keyboard. */
export function TableFrame({ children }: { readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable from the keyboard
    <section class="table-frame" aria-label="Table" tabIndex={0}>
      {children}
    </section>
  );
}
