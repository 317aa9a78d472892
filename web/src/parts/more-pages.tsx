import { useEffect, useRef } from 'preact/hooks';
import type { Pages } from '../live/use-pages.js';

/** Reads the next page when the end of a list comes into view; also a button. */
export function MorePages<Row>({ pages }: { readonly pages: Pages<Row> }) {
  const { hasMore, isLoading, more } = pages;
  const mark = useRef<HTMLButtonElement>(null);
  const latest = useRef(more);
  latest.current = more;
  useEffect(() => {
    const { current } = mark;
    if (!hasMore || current === null) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current();
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [hasMore, pages.rows.length]);
  if (!hasMore) return isLoading && pages.rows.length === 0 ? <p class="muted">Loading…</p> : null;
  return (
    <button type="button" class="more" ref={mark} onClick={more} disabled={isLoading}>
      {isLoading ? 'Loading…' : 'Show more'}
    </button>
  );
}
