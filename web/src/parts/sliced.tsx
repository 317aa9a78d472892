import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { countText } from '../format/amount.js';
import { MoreRows } from '../parts/more-pages.js';

interface SlicedProps<Row> {
  readonly rows: readonly Row[];
  /** Rows that are drawn at first, and that are added when the end of those comes near. */
  readonly step: number;
  /** What the rows are, in the plural: `transactions` */
  readonly what: string;
  readonly children: (drawn: readonly Row[]) => ComponentChildren;
}

/** Long lists that are at hand whole: drawn in slices while somebody scrolls, so that none takes long. */
export function Sliced<Row>({ rows, step, what, children }: SlicedProps<Row>) {
  const [most, setMost] = useState(step);
  return (
    <>
      {children(rows.length > most ? rows.slice(0, most) : rows)}
      {rows.length > most && (
        <MoreRows drawn={most} isLoading={false} more={() => setMost(most + step)}>
          Show more of {countText(rows.length)} {what}
        </MoreRows>
      )}
    </>
  );
}
