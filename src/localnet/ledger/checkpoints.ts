import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseBoc } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import { listFolder, makeFolder, reading, readNeeded, removeAll, writeWhole } from '#localnet/ledger/ledger-files.js';

/** A file of states. */
interface Checkpoint {
  readonly seqno: number;
  readonly bytes: number;
}

/**
 * Files with all states after a round: `states/state.0000100.boc`, a bag of cells whose roots are the state of the
 * masterchain and then those of the shards, in the order of its shard configuration.
 */
export class Checkpoints {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** By rising seqno. */
  readonly #all: Checkpoint[] = [];

  /** @param maxBytes what all files together may take, but for the newest one. @throws ledger/unreadable */
  constructor(folder: string, maxBytes: number) {
    this.#folder = join(folder, 'states');
    this.#maxBytes = maxBytes;
    for (const name of listFolder(this.#folder)) {
      const match = /^state\.(\d+)\.boc$/.exec(name);
      if (match === null) continue;
      const file = join(this.#folder, name);
      this.#all.push({ seqno: Number(match[1]), bytes: reading(file, () => statSync(file).size) });
    }
    this.#all.sort((a, b) => a.seqno - b.seqno);
  }

  /** Seqno of the newest one; 0 when there is none. */
  get newest(): number {
    return this.#all.at(-1)?.seqno ?? 0;
  }

  /** Size of the newest one. */
  get newestBytes(): number {
    return this.#all.at(-1)?.bytes ?? 0;
  }

  get paths(): readonly string[] {
    return this.#all.map(({ seqno }) => this.pathOf(seqno));
  }

  pathOf(seqno: number): string {
    return join(this.#folder, `state.${String(seqno).padStart(7, '0')}.boc`);
  }

  /** The newest one up to a seqno; 0 when there is none. */
  upTo(seqno: number): number {
    return this.#all.findLast((each) => each.seqno <= seqno)?.seqno ?? 0;
  }

  /** Writes the states after the newest round, and removes old files when they are too much. @returns the file @throws ledger/unwritable */
  write(seqno: number, states: readonly Cell[]): Uint8Array {
    makeFolder(this.#folder);
    const bytes = serializeBoc(states, { crc32c: true });
    writeWhole(this.pathOf(seqno), bytes);
    this.#all.push({ seqno, bytes: bytes.length });
    this.#thin();
    return bytes;
  }

  /** The states after a round of which there is a file. @throws ledger/damaged, ledger/missing-file, ledger/unreadable */
  read(seqno: number): readonly Cell[] {
    const file = this.pathOf(seqno);
    const bytes = readNeeded(file, `it has the states after masterchain block ${seqno}`);
    try {
      return parseBoc(bytes).roots;
    } catch (error) {
      if (!isTernError(error)) throw error;
      const offset = typeof error.data.byte === 'number' ? error.data.byte : 0;
      throw ledgerErrors.damaged({ file, offset, problem: error.message }, error);
    }
  }

  /** Removes files so that those that stay lie as evenly as they can: the one first whose neighbours are closest. */
  #thin(): void {
    let sum = this.#all.reduce((bytes, each) => bytes + each.bytes, 0) - this.newestBytes;
    while (sum > this.#maxBytes && this.#all.length > 1) {
      let closest = 0;
      for (let i = 1; i < this.#all.length - 1; i++) if (this.#gap(i) < this.#gap(closest)) closest = i;
      const [removed] = this.#all.splice(closest, 1);
      removeAll(this.pathOf(removed!.seqno));
      sum -= removed!.bytes;
    }
  }

  #gap(index: number): number {
    return this.#all[index + 1]!.seqno - (this.#all[index - 1]?.seqno ?? 0);
  }
}
