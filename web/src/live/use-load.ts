import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem } from '../api/ask.js';
import { useNetwork } from '../live/use-network.js';

/** Something that is loaded from an API. */
export interface Loaded<Value> {
  /** The newest value; null before the first. It stays while a newer one is loaded or could not be. */
  readonly value: Value | null;
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
  /** Loads it again. */
  readonly reload: () => void;
}

interface Slot<Value> {
  readonly key: string;
  readonly value: Value | null;
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
}

/** How to keep a value up to date: with each new head, but not more often than this. */
const FRESH_MS = 1_500;

/**
 * Loads a value, again when its key or the chain changes, and with new heads if it is `live`.
 *
 * @param key what the value depends on; null: there is nothing to load
 * @param live a function: whether a value can still change; null stands for one that was not found
 */
export function useLoad<Value>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<Value>,
  { live = false }: { readonly live?: boolean | ((value: Value | null) => boolean) } = {},
): Loaded<Value> {
  const { chain, head, connection } = useNetwork();
  const whole = key === null ? '' : `${chain}:${key}`;
  const [slot, setSlot] = useState<Slot<Value>>(() => emptySlot(whole, key !== null));
  const [turn, setTurn] = useState(0);
  const loading = useRef(load);
  loading.current = load;
  const loadedAt = useRef(0);
  const isBusy = useRef(false);

  useEffect(() => {
    if (key === null) return;
    const controller = new AbortController();
    isBusy.current = true;
    setSlot((before) => (before.key === whole ? { ...before, isLoading: true } : emptySlot(whole, true)));
    loading
      .current(controller.signal)
      .then(
        (value) => controller.signal.aborted || setSlot({ key: whole, value, problem: null, isLoading: false }),
        (error: unknown) => {
          if (controller.signal.aborted) return;
          const problem = problemOf(error);
          setSlot((before) => ({ ...before, key: whole, problem, isLoading: false }));
        },
      )
      .finally(() => {
        if (controller.signal.aborted) return;
        isBusy.current = false;
        loadedAt.current = performance.now();
      });
    return () => controller.abort();
  }, [whole, turn, key === null]);

  const reload = useCallback(() => setTurn((count) => count + 1), []);

  const isLive =
    typeof live === 'function'
      ? (slot.problem === null || slot.problem.kind === 'not-found') && live(slot.value)
      : live;
  useEffect(() => {
    if (!isLive || key === null || connection !== 'open' || head === 0 || isBusy.current) return;
    const wait = loadedAt.current + FRESH_MS - performance.now();
    if (wait <= 0) {
      reload();
      return;
    }
    const timer = setTimeout(reload, wait);
    return () => clearTimeout(timer);
  }, [isLive, head, connection, key === null]);

  // What failed while the server was away is loaded again when it is back.
  const isAway = slot.problem?.kind === 'unreachable' || slot.problem?.kind === 'busy';
  useEffect(() => {
    // One that is under way is not broken off: a slow server would never come to an end.
    if (isAway && connection === 'open' && !isBusy.current) reload();
  }, [isAway, connection, head]);

  const current = slot.key === whole ? slot : emptySlot<Value>(whole, key !== null);
  return { value: current.value, problem: current.problem, isLoading: current.isLoading, reload };
}

function emptySlot<Value>(key: string, isLoading: boolean): Slot<Value> {
  return { key, value: null, problem: null, isLoading };
}

function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem('failed', 0, error instanceof Error ? error.message : String(error), null, error);
}
