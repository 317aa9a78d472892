import type { ChangeLog, Profile } from '#api/http/http-api.js';
import type { AddressAccount, WantedFacts } from '#drivers/store/read/index-types.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';

/** What answers tell of an address, as JSON. */
export interface AddressRow {
  /** What it depends on: the account and, of a jetton wallet, its master. */
  readonly keys: readonly string[];
  /** Undefined: it has no state. */
  readonly account: AddressAccount | undefined;
  /** Its row of the address book; empty when that was not wanted. */
  readonly book: string;
  /** Its metadata; null: it is no token, or metadata was not wanted. */
  readonly metadata: string | null;
  /** Metadata of the jetton masters that it names, by raw address. */
  readonly masters: readonly (readonly [raw: string, metadata: string])[];
}

/** What answers may tell of addresses: the address book and metadata. */
export interface AddressRowReader {
  get(raw: string, profile: Profile, wanted: WantedFacts): AddressRow | undefined;
  /** Called before rows are read. @returns how a row that was read is kept */
  beginRead(): (raw: string, profile: Profile, wanted: WantedFacts, row: AddressRow) => void;
}

interface Entry {
  readonly row: AddressRow;
  /** The newest version of the data as of which it is known to hold. */
  version: number;
}

/** Approximate bytes of an entry beside its texts. */
const ENTRY_BYTES = 300;

/** Rows of addresses, each until what it tells changes. */
export class KeptAddressRows implements AddressRowReader {
  readonly #rows: LruByBytes<Entry>;
  readonly #changes: ChangeLog;
  readonly #version: () => number;

  /** @param version of the data, as {@link ChangeLog} counts them */
  constructor(maxBytes: number, changes: ChangeLog, version: () => number) {
    this.#rows = new LruByBytes(maxBytes);
    this.#changes = changes;
    this.#version = version;
  }

  get(raw: string, profile: Profile, wanted: WantedFacts): AddressRow | undefined {
    const key = keyOf(raw, profile, wanted);
    const entry = this.#rows.get(key);
    if (entry === undefined) return undefined;
    const version = this.#version();
    if (entry.version !== version) {
      if (!this.#changes.isUnchanged(entry.row.keys, entry.version)) {
        this.#rows.delete(key);
        return undefined;
      }
      entry.version = version;
    }
    return entry.row;
  }

  beginRead() {
    // A change that is seen later is one of what is read.
    const version = this.#version();
    return (raw: string, profile: Profile, wanted: WantedFacts, row: AddressRow) => {
      let bytes = ENTRY_BYTES + row.book.length + (row.metadata?.length ?? 0);
      for (const [, metadata] of row.masters) bytes += metadata.length;
      this.#rows.set(keyOf(raw, profile, wanted), { row, version }, bytes);
    };
  }
}

function keyOf(raw: string, profile: Profile, { domains, tokens }: WantedFacts): string {
  return `${profile}${domains ? 'd' : ''}${tokens ? 't' : ''} ${raw}`;
}
