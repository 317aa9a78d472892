import type { ServerResponse } from 'node:http';

/** Answers of fewer bytes or characters are not counted. */
const LARGE = 64 * 1024;

/** Counts the large answers that their clients have not received yet. Bytes that several clients get are held, and count, once. */
export class HeldAnswers {
  readonly #maxBytes: number;
  /** How many responses hold the same bytes. */
  readonly #holders = new Map<Uint8Array, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /** Counts a body until its response is closed. */
  add(body: string | Uint8Array, response: ServerResponse): void {
    if (body.length < LARGE || response.closed) return;
    if (typeof body === 'string') {
      this.#bytes += body.length;
      response.once('close', () => {
        this.#bytes -= body.length;
      });
      return;
    }
    const holders = this.#holders.get(body) ?? 0;
    if (holders === 0) this.#bytes += body.length;
    this.#holders.set(body, holders + 1);
    response.once('close', () => this.#release(body));
  }

  #release(body: Uint8Array): void {
    const holders = this.#holders.get(body)! - 1;
    if (holders > 0) {
      this.#holders.set(body, holders);
      return;
    }
    this.#holders.delete(body);
    this.#bytes -= body.length;
  }
}
