import type { ChangeLog, Profile } from '#api/http/http-api.js';
import { FinalTexts } from '#api/v3/final-texts.js';
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

/** What a kept row tells, and of which address. */
export interface CachedRow {
  readonly raw: string;
  readonly profile: Profile;
  readonly wanted: WantedFacts;
}

interface Entry extends CachedRow {
  readonly row: AddressRow;
  /** The newest version of the data as of which it is known to hold. */
  version: number;
}

/** Approximate bytes of an entry beside its texts. */
const ENTRY_BYTES = 400;

/** Rows are not read ahead when none that is kept was asked for during so many changes. */
const IDLE_CHANGES = 50;

/** Rows of addresses, each until what it tells changes. */
export class AddressRowCache implements AddressRowReader {
  readonly #rows: LruByBytes<Entry>;
  readonly #changes: ChangeLog;
  readonly #version: () => number;
  /** The names of the rows that depend on a key. */
  readonly #namesOf = new Map<string, Set<string>>();
  #changesSinceAsked = 0;

  /** @param version of the data, as {@link ChangeLog} counts them */
  constructor(maxBytes: number, changes: ChangeLog, version: () => number) {
    this.#rows = new LruByBytes(maxBytes, (name, entry) => this.#forget(name, entry));
    this.#changes = changes;
    this.#version = version;
  }

  get(raw: string, profile: Profile, wanted: WantedFacts): AddressRow | undefined {
    const entry = this.#holding(nameOf(raw, profile, wanted));
    if (entry !== undefined) this.#changesSinceAsked = 0;
    return entry?.row;
  }

  /** The entry if it holds; else it is deleted. */
  #holding(name: string): Entry | undefined {
    const entry = this.#rows.get(name);
    if (entry === undefined) return undefined;
    const version = this.#version();
    if (entry.version !== version) {
      if (!this.#changes.isUnchanged(entry.row.keys, entry.version)) {
        this.#rows.delete(name);
        return undefined;
      }
      entry.version = version;
    }
    return entry;
  }

  /** Lets go of the rows that a change touched. @returns them, to be read anew; none while nobody asks for any */
  takeTouched(keys: readonly string[]): readonly CachedRow[] {
    const touched: CachedRow[] = [];
    for (const key of keys) {
      for (const name of [...(this.#namesOf.get(key) ?? [])]) {
        const entry = this.#rows.get(name);
        if (entry !== undefined && this.#holding(name) === undefined) touched.push(entry);
      }
    }
    this.#changesSinceAsked++;
    return this.#changesSinceAsked > IDLE_CHANGES ? [] : touched;
  }

  #forget(name: string, { row }: Entry): void {
    for (const key of row.keys) {
      const names = this.#namesOf.get(key);
      names?.delete(name);
      if (names?.size === 0) this.#namesOf.delete(key);
    }
  }

  beginRead() {
    // A change that is seen later is one of what is read.
    const version = this.#version();
    return (raw: string, profile: Profile, wanted: WantedFacts, row: AddressRow) => {
      let bytes = ENTRY_BYTES + row.book.length + (row.metadata?.length ?? 0);
      for (const [, metadata] of row.masters) bytes += metadata.length;
      const name = nameOf(raw, profile, wanted);
      this.#rows.set(name, { raw, profile, wanted, row, version }, bytes);
      // A row that is too large is not kept.
      if (this.#rows.get(name)?.row !== row) return;
      for (const key of row.keys) {
        const names = this.#namesOf.get(key);
        if (names === undefined) this.#namesOf.set(key, new Set([name]));
        else names.add(name);
      }
    };
  }
}

function nameOf(raw: string, profile: Profile, { domains, tokens }: WantedFacts): string {
  return `${profile}${domains ? 'd' : ''}${tokens ? 't' : ''} ${raw}`;
}

/** Of the memory for texts, the part for what answers tell of addresses. */
const ADDRESS_PART = 1 / 4;

/**
 * What a thread keeps of answers: the texts of what is final, and what is told of addresses.
 *
 * @param bytes 0: nothing
 * @param version as of {@link AddressRowCache}
 */
export function keptTexts(bytes: number, changes: ChangeLog, version: () => number) {
  if (bytes === 0) return {};
  const addressRows = new AddressRowCache(bytes * ADDRESS_PART, changes, version);
  return { texts: new FinalTexts(bytes * (1 - ADDRESS_PART)), addressRows };
}
