/** Where the events of a webhook go. */
export interface EventTaker {
  /** @param cursor behind it; null: it is not final, and cannot be gone on from */
  event(json: string, cursor: string | null): void;
  /** Bytes that were taken and not stored yet. */
  readonly buffered: number;
  /** Resolves when hardly anything is buffered. */
  drained(): Promise<void>;
  /** No more events come: subscribe again. @param problem null: too many events at once, or the source is closed */
  ended(problem: string | null): void;
}

/** Events that are given to a taker. */
export interface GivenEvents {
  /** Behind all events until now: those that were given, and those that the filter leaves out. */
  cursor(): string;
  /** Gives no more. */
  end(): void;
}

/** The events of a network: the hub of the streaming API. */
export interface EventSource {
  /** Behind all events until now; null: there are none yet. */
  readonly cursor: string | null;
  /**
   * Where to go on behind a cursor: there, or, when the index does not reach back so far or is of another chain, where it begins.
   *
   * @returns `gap` says what is missing between the two; null: nothing
   * @throws when no events can be read
   */
  resumable(cursor: string): { readonly cursor: string; readonly gap: string | null };
  /** @throws when the filter is not a subscription */
  check(filter: unknown): void;
  /**
   * Gives the events behind a cursor, and then those that come.
   *
   * @throws when the cursor is too old, or no events can be read
   */
  subscribe(filter: unknown, cursor: string, taker: EventTaker): GivenEvents;
}
