import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** Errors that come from the message or its contract, not from the machines being busy or about to stop. */
const OWN_FAULTS: ReadonlySet<string> = new Set([
  'tvm/timeout',
  'tvm/crashed',
  'tvm/refused',
  'tvm/bad-library',
  'producer/foreign-account',
]);

/** How often a message between accounts is tried that no machine can execute. */
const TRIES = 3;
const MOST_KNOWN = 1_000;

/** Whether an error tells that the message cannot be executed; otherwise it may be tried later. */
export function isOwnFault(error: unknown): boolean {
  return isTernError(error) && OWN_FAULTS.has(error.code);
}

/** Counts how often messages could not be executed. */
export class MessageFaults {
  readonly #counts = new Map<string, number>();

  /** Counts once more. @returns whether to give up */
  add(hash: Uint8Array): boolean {
    const key = toHex(hash);
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.delete(key);
    if (count >= TRIES) return true;
    if (this.#counts.size >= MOST_KNOWN) this.#counts.clear();
    this.#counts.set(key, count);
    return false;
  }
}
