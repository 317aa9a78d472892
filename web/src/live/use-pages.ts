import { useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, ApiProblem } from '../api/ask.js';
import { useNetwork } from '../live/use-network.js';

/** A list that is read page by page. */
export interface Pages<Row> {
  readonly rows: readonly Row[];
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
  /** What the index may lack of it; null: nothing. */
  readonly coverage: string | null;
  /** Whether there are more rows. */
  readonly hasMore: boolean;
  /** Reads the next page. */
  readonly more: () => void;
  /** Looks for newer rows. */
  readonly refresh: () => void;
}

interface Reading<Row> {
  readonly key: string;
  readonly rows: readonly Row[];
  readonly next: string | null;
  readonly coverage: string | null;
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
}

/** More rows than anybody looks at make a page slow: further ones need another filter. */
const MOST_ROWS = 5_000;

/**
 * Reads a list by the cursors of API v3, newest first. With `live`, rows that come later are put before the others.
 *
 * @param key what the list depends on; null: there is nothing to read
 * @param idOf tells rows apart
 */
export function usePages<Row>(
  key: string | null,
  read: (cursor: string | null, signal: AbortSignal) => Promise<Answer<readonly Row[]>>,
  idOf: (row: Row) => string,
  { live = false }: { readonly live?: boolean } = {},
): Pages<Row> {
  const { chain, head, connection } = useNetwork();
  const whole = key === null ? '' : `${chain}:${key}`;
  const [reading, setReading] = useState<Reading<Row>>(() => begin(whole));
  const current = reading.key === whole ? reading : begin<Row>(whole);
  const reader = useRef(read);
  reader.current = read;
  const isBusy = useRef(false);
  const controller = useRef<AbortController | null>(null);

  const run = (
    cursor: string | null,
    merge: (before: Reading<Row>, answer: Answer<readonly Row[]>) => Reading<Row>,
  ) => {
    if (isBusy.current) return;
    isBusy.current = true;
    const { signal } = controller.current ?? new AbortController();
    reader
      .current(cursor, signal)
      .then(
        (answer) => signal.aborted || setReading((before) => (before.key === whole ? merge(before, answer) : before)),
        (error: unknown) => {
          if (signal.aborted) return;
          const problem = error instanceof ApiProblem ? error : new ApiProblem('failed', 0, String(error), null, error);
          setReading((before) => ({ ...before, problem, isLoading: false }));
        },
      )
      .finally(() => {
        if (!signal.aborted) isBusy.current = false;
      });
  };

  useEffect(() => {
    if (key === null) return;
    controller.current = new AbortController();
    isBusy.current = false;
    setReading(begin(whole));
    run(null, (before, { value, next, coverage }) => ({
      ...before,
      ...{ rows: value, next, coverage, problem: null, isLoading: false },
    }));
    return () => controller.current?.abort();
  }, [whole, key === null]);

  const refresh = () =>
    run(null, (before, { value, next, coverage }) => {
      const known = new Set(before.rows.map(idOf));
      const isJoined = value.some((row) => known.has(idOf(row)));
      // Too much came at once: what lies between is not known, and the list begins anew.
      if (!isJoined) return { ...before, rows: value, next, coverage, problem: null, isLoading: false };
      const fresh = new Set(value.map(idOf));
      const rows = [...value, ...before.rows.filter((row) => !fresh.has(idOf(row)))];
      return { ...before, rows, problem: null, isLoading: false };
    });

  const isAway = current.problem?.kind === 'unreachable' || current.problem?.kind === 'busy';
  useEffect(() => {
    if (key === null || connection !== 'open' || head === 0) return;
    if (live || isAway) refresh();
  }, [live, head, connection, isAway]);

  const { rows, next } = current;
  const hasMore = next !== null && rows.length < MOST_ROWS;
  const more = () => {
    if (!hasMore || isBusy.current) return;
    setReading((before) => ({ ...before, isLoading: true }));
    run(next, (before, answer) => {
      const known = new Set(before.rows.map(idOf));
      const added = answer.value.filter((row) => !known.has(idOf(row)));
      return { ...before, rows: [...before.rows, ...added], next: answer.next, problem: null, isLoading: false };
    });
  };
  const { problem, isLoading, coverage } = current;
  return { rows, problem, isLoading, coverage, hasMore, more, refresh };
}

function begin<Row>(key: string): Reading<Row> {
  return { key, rows: [], next: null, coverage: null, problem: null, isLoading: key !== '' };
}
