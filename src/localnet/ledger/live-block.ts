import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { BlockFiles } from '#localnet/ledger/block-files.js';
import type { BlockRecord } from '#localnet/ledger/block-record.js';
import type { LedgerBlock } from '#localnet/liteserver/ledger.js';

/** A block of a live chain; its file is read when it is asked for. */
export class LiveBlock implements LedgerBlock {
  readonly record: BlockRecord;
  readonly #files: BlockFiles;

  constructor(record: BlockRecord, files: BlockFiles) {
    this.record = record;
    this.#files = files;
  }

  get id(): BlockId {
    return this.record.id;
  }

  get gen_utime(): number {
    return this.record.gen_utime;
  }

  get end_lt(): bigint {
    return this.record.end_lt;
  }

  get mc_seqno(): number {
    return this.record.mc_seqno;
  }

  get bytes(): Uint8Array {
    return this.#files.bytes(this.record);
  }

  get root(): Cell {
    return this.#files.root(this.record);
  }
}
