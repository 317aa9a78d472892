import { toHex } from '#kernel/bytes/bytes.js';
import type { Clock } from '#kernel/clock/clock.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';
import type { ExternalMessage, ExternalOutcome } from '#localnet/producer/round-request.js';

/** Messages that wait: in all, and to one account. */
const MOST = 16_384;
const MOST_OF_ACCOUNT = 256;

/** What no block has taken in this time is forgotten, as nodes do. */
const LIFETIME_MS = 600_000;

interface Waiting {
  readonly message: ExternalMessage;
  readonly account: string;
  readonly since: number;
  readonly done: (outcome: ExternalOutcome | null) => void;
}

/** Messages from outside that wait for a block, in the order in which they came; each once. */
export class MessagePool {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  readonly #ofAccount = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Whether just this message waits already. */
  has(message: ExternalMessage): boolean {
    return this.#waiting.has(keyOf(message));
  }

  /**
   * @param done is told what became of it; null when it was forgotten
   * @throws liteserver/too-many-messages
   */
  add(message: ExternalMessage, done: (outcome: ExternalOutcome | null) => void = () => {}): void {
    const account = message.dest.toRaw();
    const ofAccount = this.#ofAccount.get(account) ?? 0;
    if (this.#waiting.size >= MOST) throw liteserverErrors['too-many-messages']({ waiting: MOST, of: 'all' });
    if (ofAccount >= MOST_OF_ACCOUNT) {
      throw liteserverErrors['too-many-messages']({ waiting: ofAccount, of: account });
    }
    this.#waiting.set(keyOf(message), { message, account, since: this.#clock.now(), done });
    this.#ofAccount.set(account, ofAccount + 1);
  }

  /** All that waits, the oldest first; what has waited for too long is forgotten. */
  messages(): readonly ExternalMessage[] {
    const oldest = this.#clock.now() - LIFETIME_MS;
    for (const [key, { since }] of this.#waiting) {
      if (since >= oldest) break;
      this.#end(key, null);
    }
    return [...this.#waiting.values()].map(({ message }) => message);
  }

  /** A round is done with some of them. */
  settle(outcomes: readonly ExternalOutcome[]): void {
    for (const outcome of outcomes) this.#end(keyOf(outcome.message), outcome);
  }

  /** Forgets all. @returns how many */
  clear(): number {
    const keys = [...this.#waiting.keys()];
    for (const key of keys) this.#end(key, null);
    return keys.length;
  }

  #end(key: string, outcome: ExternalOutcome | null): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    this.#waiting.delete(key);
    const left = this.#ofAccount.get(waiting.account)! - 1;
    if (left === 0) this.#ofAccount.delete(waiting.account);
    else this.#ofAccount.set(waiting.account, left);
    waiting.done(outcome);
  }
}

function keyOf({ message }: ExternalMessage): string {
  return toHex(message.hash());
}
