import type { StreamPosition } from '#api/stream/cursor.js';
import type { Subscription } from '#api/stream/subscription.js';
import { sharedAbortController } from '#kernel/shared-abort.js';

/** An event as text, for all who get the same. */
export class EventText {
  readonly json: string;
  /** Whether clients can go on behind it: it is final. */
  readonly isFinal: boolean;
  /** Of a final event: the trace that nothing less certain is sent of after it. */
  readonly settles: { readonly norm: string; readonly kind: TraceEventKind } | null;
  /** By form, of the cursor that was asked for last: that of all who are live. */
  readonly #framed = new Map<string, { readonly cursor: string | null; readonly bytes: Buffer }>();

  constructor(json: string, isFinal: boolean, settles: EventText['settles'] = null) {
    this.json = json;
    this.isFinal = isFinal;
    this.settles = settles;
  }

  /** The event with its cursor as its last member. @param cursor null: it has none */
  withCursor(cursor: string | null): string {
    return cursor === null ? this.json : `${this.json.slice(0, -1)},"cursor":"${cursor}"}`;
  }

  /** Bytes that are made once for all connections with the same form. */
  framed(form: string, cursor: string | null, make: (json: string) => string): Buffer {
    const known = this.#framed.get(form);
    if (known !== undefined && known.cursor === cursor) return known.bytes;
    const bytes = Buffer.from(make(this.withCursor(cursor)));
    this.#framed.set(form, { cursor, bytes });
    return bytes;
  }
}

/** Why a stream is ended by the server. */
export type StreamEnd = 'lagging' | 'resume-failed' | 'shutting-down';

/** Where the events of a subscriber go. */
export interface EventSink {
  /** @param cursor null: the event has none */
  send(text: EventText, cursor: string | null): void;
  /** Bytes that were sent and not taken yet. */
  readonly buffered: number;
  /** Resolves when hardly anything is buffered, or the connection is closed. */
  drained(): Promise<void>;
  /** Says why, with the cursor to go on from, and closes. */
  end(reason: StreamEnd, cursor: string, problem?: string): void;
}

/** Counts work units that were done for a client, and resolves when it may have more. */
export type Pace = (units: number) => Promise<void>;

/** A client of the hub with a subscription, which decides what it gets; where it is, the hub knows. */
export class Subscriber {
  readonly sink: EventSink;
  readonly maxBuffered: number;
  /** For events that it is sent again; null: nothing limits them. */
  readonly pace: Pace | null;
  readonly subscription: Subscription;
  /** The place behind the last finalized event that was sent; null: nothing was sent. */
  sentUpTo: StreamPosition | null = null;
  readonly uncertain: UncertainTraces;
  /** Ends what is being read for it. */
  readonly left = sharedAbortController();
  isEnded = false;

  constructor(
    subscription: Subscription,
    sink: EventSink,
    maxBuffered: number,
    pace: Pace | null,
    uncertain = new UncertainTraces(),
  ) {
    this.subscription = subscription;
    this.sink = sink;
    this.maxBuffered = maxBuffered;
    this.pace = pace;
    this.uncertain = uncertain;
  }

  /** The same client with another subscription. */
  with(subscription: Subscription): Subscriber {
    return new Subscriber(subscription, this.sink, this.maxBuffered, this.pace, this.uncertain);
  }

  /** Whether it still takes events. */
  get takes(): boolean {
    return !this.isEnded && this.sink.buffered <= this.maxBuffered;
  }
}

/** Kinds of events of a trace. */
export type TraceEventKind = 'transactions' | 'actions' | 'trace';

/** Traces of which a subscriber has got events, at most: what is not final is gone within minutes. */
const MOST_TRACES = 2_000;
const FINAL = 'final';

/** What a subscriber was sent of traces that are not final: so that nothing comes twice, and nothing after what is final. */
class UncertainTraces {
  /** By trace: the state that was sent last, by kind. */
  readonly #sent = new Map<string, Map<TraceEventKind, string>>();

  /** Whether an event says more than the one before it. @param state equal for equal events */
  isNews(norm: string, kind: TraceEventKind, state: string): boolean {
    const before = this.#sent.get(norm)?.get(kind);
    return before !== state && before !== FINAL;
  }

  /** The event is sent. */
  note(norm: string, kind: TraceEventKind, state: string): void {
    this.#of(norm).set(kind, state);
  }

  settle(norm: string, kind: TraceEventKind): void {
    this.#of(norm).set(kind, FINAL);
  }

  /** @returns whether something was sent of the trace, and nothing of it is final */
  forget(norm: string): boolean {
    const known = this.#sent.get(norm);
    this.#sent.delete(norm);
    return known !== undefined && ![...known.values()].includes(FINAL);
  }

  #of(norm: string): Map<TraceEventKind, string> {
    const known = this.#sent.get(norm);
    if (known !== undefined) return known;
    const fresh = new Map<TraceEventKind, string>();
    this.#sent.set(norm, fresh);
    if (this.#sent.size > MOST_TRACES) {
      for (const oldest of this.#sent.keys()) {
        this.#sent.delete(oldest);
        break;
      }
    }
    return fresh;
  }
}
