import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Pages } from '../live/use-pages.js';

/** How far below the window the end of a list may be when its next rows are drawn: nobody who scrolls should see it. */
const AHEAD = '1200px';

interface MoreRowsProps {
  /** Rows that are there; when it changes, the end is looked at again. */
  readonly drawn: number;
  readonly isLoading: boolean;
  readonly more: () => void;
  readonly children: ComponentChildren;
}

/** The end of a list that goes on: asks for more when it comes near the window; also a button. */
export function MoreRows({ drawn, isLoading, more, children }: MoreRowsProps) {
  const mark = useRef<HTMLButtonElement>(null);
  const latest = useRef(more);
  latest.current = more;
  useEffect(() => {
    const { current } = mark;
    if (current === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current();
      },
      { rootMargin: AHEAD },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, [drawn]);
  return (
    <button type="button" class="more" ref={mark} onClick={more} disabled={isLoading}>
      {children}
    </button>
  );
}

/** Reads the next page of a list when its end comes near. */
export function MorePages<Row>({ pages }: { readonly pages: Pages<Row> }) {
  const { hasMore, isLoading, more, rows } = pages;
  if (!hasMore) return isLoading && rows.length === 0 ? <p class="muted">Loading…</p> : null;
  return (
    <MoreRows drawn={rows.length} isLoading={isLoading} more={more}>
      {isLoading ? 'Loading…' : 'Show more'}
    </MoreRows>
  );
}
