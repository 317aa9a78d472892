import type { ByteSource } from '#drivers/state-files/byte-source.js';
import { stateFilesErrors } from '#drivers/state-files/errors.js';
import { type BocHeader, readBocHeaderOf } from '#formats/cells/boc-parse.js';
import { popcount3 } from '#formats/cells/cell.js';
import { isTernError } from '#kernel/tern-error.js';

/** Bytes of the longest header with one root. */
const HEADER_BYTES = 4 + 2 + 3 * 4 + 8 + 4;
/** Bytes of the longest cell: descriptors, four hashes and depths, data, references. */
export const MAX_CELL_BYTES = 2 + 4 * 34 + 128 + 4 * 4;

/** A state file: where it is, and its header. */
export interface StateFile {
  readonly source: ByteSource;
  readonly header: BocHeader;
}

/** Reads the header of a state file. @throws state-files/not-a-state, state-files/damaged, state-files/unreadable */
export function openStateFile(source: ByteSource): StateFile {
  const { name: file, size } = source;
  const start = new Uint8Array(Math.min(HEADER_BYTES, size));
  source.read(start, 0);
  let header: BocHeader;
  try {
    header = readBocHeaderOf(start, size);
  } catch (error) {
    if (!isTernError(error)) throw error;
    const data = { file, offset: byteOf(error.data), problem: error.message };
    const isTorn = error.code === 'cells/boc-truncated' || error.code === 'cells/boc-trailing-bytes';
    throw isTorn ? stateFilesErrors.damaged(data, error) : stateFilesErrors['not-a-state'](data, error);
  }
  const refuse = (problem: string) => stateFilesErrors['not-a-state']({ file, offset: 4, problem });
  if (header.roots.length !== 1 || header.roots[0] !== 0) throw refuse('its root is not its first cell');
  if (!header.hasIndex) throw refuse('it has no index of its cells');
  return { source, header };
}

function byteOf({ byte }: Readonly<Record<string, unknown>>): number {
  return typeof byte === 'number' ? byte : 0;
}

/** Reads a number of the index. */
export function indexEntry(bytes: Uint8Array, at: number, { offsetSize, hasCacheBits }: BocHeader): number {
  let entry = 0;
  for (let k = 0; k < offsetSize; k++) entry = entry * 256 + bytes[at + k]!;
  return hasCacheBits ? Math.floor(entry / 2) : entry;
}

/** A cell as it stands in a file; read repeatedly into the same object. */
export class FileCell {
  /** First byte of the data within the bytes given. */
  dataStart = 0;
  dataLength = 0;
  bits = 0;
  refCount = 0;
  levelMask = 0;
  isExotic = false;
  /** The first of the stored hashes within the bytes given; -1: there are none. */
  hashesAt = -1;
  readonly refs = new Float64Array(4);
  /** Bytes of the cell. */
  length = 0;
  /** What is wrong with it; null: nothing. */
  problem: string | null = null;

  /**
   * @param at where the cell starts in `bytes`
   * @param index of the cell: its references lead to later ones
   * @returns whether it is well-formed; see {@link problem}
   */
  read(bytes: Uint8Array, at: number, index: number, { refSize, cellCount }: BocHeader): boolean {
    const d1 = bytes[at]!;
    const d2 = bytes[at + 1]!;
    const refCount = d1 & 7;
    this.refCount = refCount;
    this.isExotic = (d1 & 8) !== 0;
    this.levelMask = d1 >> 5;
    if (refCount > 4) return this.#wrong(`has ${refCount} references`);
    let from = at + 2;
    this.hashesAt = -1;
    if ((d1 & 16) !== 0) {
      this.hashesAt = from;
      from += (popcount3(this.levelMask) + 1) * 34;
    }
    const dataLength = (d2 + 1) >> 1;
    this.dataStart = from;
    this.dataLength = dataLength;
    let bits = dataLength * 8;
    if ((d2 & 1) !== 0) {
      const last = bytes[from + dataLength - 1]!;
      if ((last & 0x7f) === 0) return this.#wrong('its last data byte is not a few bits and a completion bit');
      bits -= 1 + 31 - Math.clz32(last & -last);
    }
    if (bits > 1023) return this.#wrong(`has ${bits} bits`);
    this.bits = bits;
    from += dataLength;
    for (let r = 0; r < refCount; r++) {
      let ref = bytes[from++]!;
      for (let k = 1; k < refSize; k++) ref = ref * 256 + bytes[from++]!;
      if (ref <= index || ref >= cellCount) {
        return this.#wrong(`refers to cell ${ref} of ${cellCount}; references lead to later cells`);
      }
      this.refs[r] = ref;
    }
    this.length = from - at;
    return true;
  }

  #wrong(problem: string): false {
    this.problem = problem;
    return false;
  }
}
