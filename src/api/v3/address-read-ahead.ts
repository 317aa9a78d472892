import type { Profile } from '#api/http/http-api.js';
import { readAddressRows } from '#api/v3/address-book.js';
import { type V3Network, v3Context, v3Switches } from '#api/v3/context.js';
import type { AddressRowCache, CachedRow } from '#api/v3/kept-texts.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { sharedAbortController } from '#kernel/shared-abort.js';

/** Rows that are read for one change, at most: of a larger one they are read when somebody asks for them. */
const MOST_ROWS = 1_000;

const DEADLINE_MS = 5_000;

/**
 * Reads the rows of addresses that a change touched anew, all in one or two statements: nearly each block touches some address of an
 * answer that is asked for, and each of these answers would read its own.
 */
export class AddressReadAhead {
  readonly #network: V3Network;
  readonly #rows: AddressRowCache;
  readonly #stop = sharedAbortController();
  #waiting: CachedRow[] = [];
  #running: Promise<void> | null = null;

  /** @param rows those of the network */
  constructor(network: V3Network, rows: AddressRowCache) {
    this.#network = network;
    this.#rows = rows;
  }

  /** @param keys what changed with the newest version; null: anything */
  noteChange(keys: readonly string[] | null): void {
    if (keys === null || this.#stop.signal.aborted) return;
    const touched = this.#rows.takeTouched(keys);
    if (touched.length === 0 || this.#waiting.length + touched.length > MOST_ROWS) return;
    this.#waiting.push(...touched);
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Resolves when nothing is being read. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) {
      const kinds = new Map<string, CachedRow & { readonly addresses: Map<string, Address> }>();
      for (const row of this.#waiting) {
        const { raw, profile, wanted } = row;
        const kind = `${profile} ${wanted.domains} ${wanted.tokens}`;
        const like = kinds.get(kind) ?? { ...row, addresses: new Map() };
        kinds.set(kind, like);
        like.addresses.set(raw, parseAddress(raw).address);
      }
      this.#waiting = [];
      for (const { addresses, wanted, profile } of kinds.values()) {
        // What fails here is read, and reported, when somebody asks for it.
        await readAddressRows(addresses, wanted, this.#context(profile)).catch(() => {});
      }
    }
  }

  #context(profile: Profile) {
    const switches = {
      timeoutMs: v3Switches.timeoutMs.byDefault,
      noAddressBook: v3Switches.noAddressBook.byDefault,
      noMetadata: v3Switches.noMetadata.byDefault,
      debug: v3Switches.debug.byDefault,
      actionsVersion: v3Switches.actionsVersion.byDefault,
    };
    const read = { signal: this.#stop.signal, deadlineMs: DEADLINE_MS };
    const nothing = () => {};
    return v3Context(this.#network, {
      ...{ read, profile, switches, group: null },
      ...{ header: nothing, worked: nothing, foresee: nothing, dependsOn: nothing, notKept: nothing },
    });
  }
}
