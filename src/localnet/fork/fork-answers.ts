import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { TransactionRef } from '#formats/proofs/account-transactions.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { AccountName, ForkQuestions, ForkSource } from '#localnet/fork/fork-source.js';

/** So many accounts and libraries that there are not are remembered: half a gigabyte of wrong addresses is not. */
const MOST_ABSENT = 65_536;

/**
 * Answers what a local network asks of the one that it is a fork of. What is asked for twice at the same time is read once,
 * and what is not there is not asked for again.
 */
export class ForkAnswers implements ForkQuestions {
  readonly #source: ForkSource;
  readonly #absent = new Set<string>();
  readonly #reading = new Map<string, Promise<Uint8Array | null>>();

  constructor(source: ForkSource) {
    this.#source = source;
  }

  account({ workchain, hash }: AccountName): Promise<Uint8Array | null> {
    const address = Address.ofParts(workchain, hash);
    return this.#once(address.toRaw(), async () => {
      const cell = await this.#source.account(address);
      return cell === null ? null : serializeBoc(cell);
    });
  }

  library(hash: Uint8Array): Promise<Uint8Array | null> {
    return this.#once(toHex(hash), async () => {
      const cell = await this.#source.library(hash);
      return cell === null ? null : serializeBoc(cell);
    });
  }

  transactions({ workchain, hash }: AccountName, from: TransactionRef, count: number): Promise<Uint8Array> {
    return this.#source.transactions(Address.ofParts(workchain, hash), from, count);
  }

  async #once(key: string, read: () => Promise<Uint8Array | null>): Promise<Uint8Array | null> {
    if (this.#absent.has(key)) return null;
    let reading = this.#reading.get(key);
    if (reading === undefined) {
      reading = read().finally(() => this.#reading.delete(key));
      this.#reading.set(key, reading);
    }
    const found = await reading;
    if (found === null) this.#remember(key);
    return found;
  }

  #remember(key: string): void {
    this.#absent.add(key);
    if (this.#absent.size <= MOST_ABSENT) return;
    for (const oldest of this.#absent) {
      this.#absent.delete(oldest);
      break;
    }
  }
}
