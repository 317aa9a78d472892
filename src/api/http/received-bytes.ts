import { httpErrors } from '#api/http/errors.js';
import { type Link, LinkedList } from '#kernel/linked-list.js';
import type { TernError } from '#kernel/tern-error.js';

/** What is held of one body, or of the messages of one WebSocket. */
export interface ReceivedPart {
  /** @param bytes that are held now */
  hold(bytes: number): void;
  /** Nothing is held any more. May be called again without effect. */
  release(): void;
}

/**
 * The bytes that clients have sent and that are not parsed yet, of all bodies and WebSocket messages together. When they exceed
 * their bound, those that have been held longest are given up: what does not end, or belongs to clients that have had more than
 * others and so wait long for their turn, cannot keep others out.
 */
export class ReceivedBytes {
  readonly #most: number;
  /** In the order in which they began to hold something. */
  readonly #parts = new LinkedList<Part>();
  #held = 0;

  /** @param most bytes */
  constructor(most: number) {
    this.#most = most;
  }

  get held(): number {
    return this.#held;
  }

  /** @param giveUp called when there is no room for what is held, with http/overloaded; not for the same bytes again */
  begin(giveUp: (error: TernError) => void): ReceivedPart {
    return new Part(giveUp, (part, before) => {
      this.#held += part.held - before;
      if (part.held === 0) this.#parts.remove(part.place);
      else if (before === 0) part.place = this.#parts.add(part);
      if (part.held > before) this.#giveUp();
    });
  }

  #giveUp(): void {
    while (this.#held > this.#most) {
      const part = this.#parts.first!;
      part.release();
      part.giveUp(httpErrors.overloaded({ limit: 'too many bodies are being received' }));
    }
  }
}

class Part implements ReceivedPart {
  readonly giveUp: (error: TernError) => void;
  readonly #onChange: (part: Part, before: number) => void;
  held = 0;
  /** Among those that hold something. */
  place: Link<Part> | null = null;

  constructor(giveUp: (error: TernError) => void, onChange: (part: Part, before: number) => void) {
    this.giveUp = giveUp;
    this.#onChange = onChange;
  }

  hold(bytes: number): void {
    const before = this.held;
    if (bytes === before) return;
    this.held = bytes;
    this.#onChange(this, before);
  }

  release(): void {
    this.hold(0);
  }
}
