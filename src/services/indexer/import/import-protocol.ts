import type { StateImportRow } from '#drivers/store/write/state-imports.js';
import type { LogMethods } from '#kernel/worker-side.js';

/** The two sides of a thread that imports accounts of verified state files: see `WorkerContract`. */
export interface ImportThreadContract {
  readonly start: ImportThreadStart;
  readonly host: ImportThreadHost;
  readonly methods: {
    /** Imports what is left of a range. @returns the bytes read from the files @throws as `RangeImporter.run` */
    importRange(range: ImportRange): Promise<number>;
  };
  readonly ready: undefined;
}

export interface ImportThreadStart {
  /** Connection URL of the database. */
  readonly url: string;
  readonly mc_seqno: number;
  /** All files with accounts: contracts are confirmed by others of the same state. */
  readonly files: readonly ImportFile[];
  /** DNS collections (raw addresses) besides the well-known ones. */
  readonly dnsRoots: readonly { readonly collection: string; readonly zone: string }[];
}

/** An `AccountFile`, in a form that crosses threads. */
interface ImportFile {
  readonly path: string;
  readonly workchain: number;
  readonly shard: bigint;
  readonly root_hash: Uint8Array;
  readonly gen_utime: number;
  readonly isPart: boolean;
}

/** Accounts of a file. */
export interface ImportRange {
  /** Number of the file in {@link ImportThreadStart.files}. */
  readonly file: number;
  /** The prefix of the accounts, as a shard. */
  readonly shard: bigint;
  readonly row: StateImportRow;
}

interface ImportThreadHost extends LogMethods {
  /** A library published on the masterchain, as a BoC; null: none. */
  library(hash: Uint8Array): Promise<Uint8Array | null>;
  /** A batch was written. @param position id of its last account */
  written(accounts: number, position: Uint8Array): void;
}
