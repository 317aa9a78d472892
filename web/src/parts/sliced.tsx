import { Component, type ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { countText } from '../format/amount.js';
import { MoreRows } from '../parts/more-pages.js';

interface SlicedProps<Row> {
  readonly rows: readonly Row[];
  /** Rows that are drawn at first, and that are added when the end of those comes near. */
  readonly step: number;
  /** What the rows are, in the plural: `transactions` */
  readonly what: string;
  /** What is around the rows: a list, a table. */
  readonly frame: (rows: ComponentChildren) => ComponentChildren;
  /** A row with its key, drawn from the row alone. */
  readonly row: (row: Row, index: number) => ComponentChildren;
}

/** Long lists that are at hand whole: drawn in slices while somebody scrolls, so that none takes long. */
export function Sliced<Row>({ rows, step, what, frame, row }: SlicedProps<Row>) {
  const [most, setMost] = useState(step);
  const slices: ComponentChildren[] = [];
  for (let from = 0; from < Math.min(most, rows.length); from += step) {
    slices.push(<Slice key={from} rows={rows.slice(from, from + step)} from={from} row={row} />);
  }
  return (
    <>
      {frame(slices)}
      {rows.length > most && (
        <MoreRows drawn={most} isLoading={false} more={() => setMost(most + step)}>
          Show more of {countText(rows.length)} {what}
        </MoreRows>
      )}
    </>
  );
}

interface SliceProps<Row> extends Pick<SlicedProps<Row>, 'rows' | 'row'> {
  readonly from: number;
}

/** Rows that are drawn again only when they are others: not with each block that comes, nor with each slice that is added below. */
class Slice<Row> extends Component<SliceProps<Row>> {
  override shouldComponentUpdate({ rows }: SliceProps<Row>): boolean {
    const { rows: drawn } = this.props;
    return rows.length !== drawn.length || rows.some((row, index) => row !== drawn[index]);
  }

  override render({ rows, from, row }: SliceProps<Row>) {
    return <>{rows.map((each, index) => row(each, from + index))}</>;
  }
}
