import { closeSync, fstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  type BlockId,
  type BlockPosition,
  isMasterchain,
  printBlockId,
  printPosition,
} from '#formats/proofs/block-id.js';
import { concatBytes, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import {
  cutTo,
  openToChange,
  readAt,
  readFileIfAny,
  reading,
  writeAt,
  writeWhole,
} from '#localnet/ledger/ledger-files.js';
import { archivePackHead, packEntryHead, readPackEntries } from '#localnet/replay/archive-pack.js';

/** A block to be written, with its proof. */
export interface NewEntry extends Omit<BlockRecord, 'block' | 'proof' | 'proof_crc'> {
  readonly bytes: Uint8Array;
  readonly proofBytes: Uint8Array;
}

/** Called with each block, in their order. */
export type VisitBlock = (id: BlockPosition, key_block: boolean) => void;

const PACK_HEAD = archivePackHead();

/** File name with the seqno of the first masterchain block in the pack, such as `archive.0000001.pack`. */
export function packName(first: number, kind: 'pack' | 'index'): string {
  return `archive.${String(first).padStart(7, '0')}.${kind}`;
}

/**
 * Consecutive bundles of the chain: an archive pack with blocks and proofs, the masterchain block of a bundle last, and
 * its index, a file of records in the same order. The index is written last: blocks without a record are not part of
 * the chain.
 */
export class Pack {
  /** Seqno of the first masterchain block. */
  readonly first: number;
  readonly file: string;
  readonly indexFile: string;
  /** Number of blocks. */
  count = 0;
  /** Number of masterchain blocks. */
  mcBlocks = 0;
  /** Size of the pack in bytes. */
  size = PACK_HEAD.length;
  #pack: number | null = null;
  #index: number | null = null;
  /** Whether there may be bytes of a bundle that could not be written completely. */
  #isTorn = false;

  private constructor(folder: string, first: number) {
    this.first = first;
    this.file = join(folder, packName(first, 'pack'));
    this.indexFile = join(folder, packName(first, 'index'));
  }

  /** Creates a pack without blocks. @throws ledger/unwritable */
  static create(folder: string, first: number): Pack {
    const pack = new Pack(folder, first);
    writeWhole(pack.file, PACK_HEAD);
    writeWhole(pack.indexFile, new Uint8Array());
    return pack;
  }

  /**
   * Opens a pack. In the last one, an incomplete bundle is cut off.
   *
   * @param visit is called with each block, in their order
   * @throws ledger/damaged, ledger/missing-file, ledger/unreadable, ledger/unwritable
   */
  static open(folder: string, first: number, isLast: boolean, visit: VisitBlock): Pack {
    const pack = new Pack(folder, first);
    try {
      pack.#read(isLast, visit);
    } catch (error) {
      pack.close();
      throw error;
    }
    if (!isLast) pack.close();
    return pack;
  }

  /** Whether the files have other hard links: then they also belong to a snapshot and must not change. */
  get isShared(): boolean {
    return [this.#openPack(), this.#openIndex()].some((descriptor) => fstatSync(descriptor).nlink > 1);
  }

  /** Appends the blocks of a bundle, the masterchain block last. @throws ledger/unwritable */
  append(entries: readonly NewEntry[]): readonly BlockRecord[] {
    const parts: Uint8Array[] = [];
    let end = this.size;
    const put = (name: string, data: Uint8Array): Extent => {
      const head = packEntryHead(name, data.length);
      const at = end + head.length;
      parts.push(head, data);
      end = at + data.length;
      return { at, length: data.length };
    };
    const records = entries.map(({ bytes, proofBytes, ...known }): BlockRecord => {
      const name = printBlockId(known.id);
      const block = put(`block_${name}`, bytes);
      const proof = put(`${proofKind(known.id)}_${name}`, proofBytes);
      return { ...known, block, proof, proof_crc: crc32(proofBytes) };
    });
    this.#cutTorn();
    try {
      writeAt(this.file, this.#openPack(), concatBytes(...parts), this.size);
      const index = concatBytes(...records.map(writeRecord));
      writeAt(this.indexFile, this.#openIndex(), index, this.count * RECORD_BYTES);
    } catch (error) {
      this.#isTorn = true;
      this.#tryToCutTorn();
      throw error;
    }
    this.size = end;
    this.count += records.length;
    this.mcBlocks++;
    return records;
  }

  /** @throws ledger/damaged, ledger/unreadable */
  read(extent: Extent): Uint8Array {
    return readAt(this.file, this.#openPack(), extent);
  }

  /** Raw records. @throws ledger/damaged, ledger/unreadable */
  readIndex(from: number, count: number): Uint8Array {
    const extent = { at: from * RECORD_BYTES, length: count * RECORD_BYTES };
    return readAt(this.indexFile, this.#openIndex(), extent);
  }

  close(): void {
    this.#tryToCutTorn();
    for (const descriptor of [this.#pack, this.#index]) if (descriptor !== null) closeSync(descriptor);
    this.#pack = null;
    this.#index = null;
  }

  /**
   * Cuts off what is left of a bundle: a shorter one in its place would leave its end. A snapshot that shares the files has
   * only the blocks before it. @throws ledger/unwritable
   */
  #cutTorn(): void {
    if (!this.#isTorn) return;
    cutTo(this.indexFile, this.#openIndex(), this.count * RECORD_BYTES);
    cutTo(this.file, this.#openPack(), this.size);
    this.#isTorn = false;
  }

  #tryToCutTorn(): void {
    try {
      this.#cutTorn();
    } catch {
      // What is left of one bundle is also cut off before the next one, and when the chain is opened.
    }
  }

  #openPack(): number {
    this.#pack ??= openToChange(this.file, 'it has blocks of the chain');
    return this.#pack;
  }

  #openIndex(): number {
    this.#index ??= openToChange(this.indexFile, `it is the index of ${basename(this.file)}`);
    return this.#index;
  }

  #read(isLast: boolean, visit: VisitBlock): void {
    const packSize = reading(this.file, () => fstatSync(this.#openPack()).size);
    const index = this.#readIndexFile(isLast, packSize);
    // Files of a snapshot were complete when it was saved.
    const mayBeTorn = isLast && !this.isShared;
    this.#readRecords(index, visit);
    const indexEnd = this.count * RECORD_BYTES;
    const head = this.#readHead(packSize, mayBeTorn);
    if (index.length > indexEnd) {
      if (!mayBeTorn) throw damaged(this.indexFile, indexEnd, 'its last bundle is incomplete');
      cutTo(this.indexFile, this.#openIndex(), indexEnd);
    }
    if (packSize < this.size && head) {
      throw damaged(this.file, packSize, `it ends here, but its index has blocks up to byte ${this.size}`);
    }
    if (packSize > this.size) this.#cutTail(packSize, mayBeTorn);
  }

  /** A pack that was being created when the process was killed may have no index yet. */
  #readIndexFile(isLast: boolean, packSize: number): Uint8Array {
    const index = readFileIfAny(this.indexFile);
    if (index !== null) return index;
    if (!isLast || packSize > PACK_HEAD.length) {
      throw ledgerErrors['missing-file']({ file: this.indexFile, needed: `it is the index of ${basename(this.file)}` });
    }
    writeWhole(this.indexFile, new Uint8Array());
    return new Uint8Array();
  }

  /** @returns whether the file has its header; a header that was written incompletely is written again */
  #readHead(packSize: number, mayBeTorn: boolean): boolean {
    const length = Math.min(packSize, PACK_HEAD.length);
    const found = readAt(this.file, this.#openPack(), { at: 0, length });
    if (toHex(found) !== toHex(PACK_HEAD.subarray(0, length))) {
      throw damaged(this.file, 0, `it starts with ${toHex(found)}, which no archive pack does`);
    }
    if (length === PACK_HEAD.length || !mayBeTorn || this.count > 0) return true;
    writeAt(this.file, this.#openPack(), PACK_HEAD, 0);
    return false;
  }

  /**
   * Reads the records of complete bundles. This dominates the time of opening a chain, so no record objects are
   * created.
   */
  #readRecords(index: Uint8Array, visit: VisitBlock): void {
    const { indexFile } = this;
    const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
    let first = 0;
    let end = this.size;
    for (let n = 0; (n + 1) * RECORD_BYTES <= index.length; n++) {
      const at = n * RECORD_BYTES;
      if (!isRecord(index, at, view)) throw damaged(indexFile, at, 'the checksum of the record is wrong');
      const id = positionAt(view, at);
      const isTop = isMasterchain(id);
      const mc_seqno = view.getUint32(at + FIELD_AT.mc_seqno, true);
      const wanted = this.first + this.mcBlocks;
      if (mc_seqno !== wanted || (isTop && id.seqno !== wanted)) {
        throw damaged(
          indexFile,
          at,
          `it has block ${printPosition(id)} of masterchain block ${mc_seqno} in the bundle of masterchain block ${wanted}`,
        );
      }
      for (let extent = at + FIELD_AT.extents; extent < at + FIELD_AT.flags; extent += 8) {
        const start = view.getUint32(extent, true);
        if (start <= end) throw damaged(indexFile, at, `the files of block ${printPosition(id)} overlap with others`);
        end = start + view.getUint32(extent + 4, true);
      }
      if (!isTop) continue;
      for (let k = first; k <= n; k++) {
        const flags = view.getUint32(k * RECORD_BYTES + FIELD_AT.flags, true);
        visit(positionAt(view, k * RECORD_BYTES), (flags & 1) !== 0);
      }
      first = n + 1;
      this.count = first;
      this.mcBlocks++;
      this.size = end;
    }
  }

  #cutTail(packSize: number, mayBeTorn: boolean): void {
    const tail = { at: this.size, length: packSize - this.size };
    const problem = mayBeTorn
      ? unfinishedBundle(readAt(this.file, this.#openPack(), tail))
      : { offset: 0, problem: 'its index has nothing of what begins here' };
    if (problem !== null) throw damaged(this.file, this.size + problem.offset, problem.problem);
    cutTo(this.file, this.#openPack(), this.size);
  }
}

/** Names of proof files, as nodes use them. */
function proofKind(id: BlockId): 'proof' | 'prooflink' {
  return isMasterchain(id) ? 'proof' : 'prooflink';
}

function damaged(file: string, offset: number, problem: string): Error {
  return ledgerErrors.damaged({ file, offset, problem });
}

/** Position of data in a pack, in bytes. */
export interface Extent {
  readonly at: number;
  readonly length: number;
}

/** What the index knows of a block. */
export interface BlockRecord {
  readonly id: BlockId;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly end_lt: bigint;
  /** The masterchain block that commits it; for a masterchain block its own seqno. */
  readonly mc_seqno: number;
  readonly key_block: boolean;
  /** Positions of block file and proof file in the pack. */
  readonly block: Extent;
  readonly proof: Extent;
  /** CRC-32 of the proof file; the block file is checked by its file hash. */
  readonly proof_crc: number;
}

/** Size of an index record. */
export const RECORD_BYTES = 124;

const CHECKED_BYTES = RECORD_BYTES - 4;

/**
 * Encodes a record, little-endian: int32 workchain, uint32 seqno, uint64 shard, 32 bytes root hash, 32 bytes file hash,
 * uint64 end_lt, uint32 gen_utime, uint32 mc_seqno, uint32 offset and length of the block, uint32 offset and length of
 * the proof, uint32 flags (1: key block), uint32 CRC-32 of the proof, and uint32 CRC-32 of all fields before.
 */
function writeRecord(record: BlockRecord): Uint8Array {
  const { id, gen_utime, end_lt, mc_seqno, key_block, block, proof, proof_crc } = record;
  const bytes = new Uint8Array(RECORD_BYTES);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, id.workchain, true);
  view.setUint32(4, id.seqno, true);
  view.setBigUint64(8, id.shard, true);
  bytes.set(id.root_hash, 16);
  bytes.set(id.file_hash, 48);
  view.setBigUint64(80, end_lt, true);
  view.setUint32(88, gen_utime, true);
  view.setUint32(92, mc_seqno, true);
  view.setUint32(96, block.at, true);
  view.setUint32(100, block.length, true);
  view.setUint32(104, proof.at, true);
  view.setUint32(108, proof.length, true);
  view.setUint32(112, key_block ? 1 : 0, true);
  view.setUint32(116, proof_crc, true);
  view.setUint32(CHECKED_BYTES, crc32(bytes.subarray(0, CHECKED_BYTES)), true);
  return bytes;
}

/** Decodes the record at an offset; its hashes are copies. `null` when the checksum is wrong. */
export function readRecord(bytes: Uint8Array, at: number): BlockRecord | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, RECORD_BYTES);
  if (crc32(bytes.subarray(at, at + CHECKED_BYTES)) !== view.getUint32(CHECKED_BYTES, true)) return null;
  return {
    id: {
      workchain: view.getInt32(0, true),
      shard: view.getBigUint64(8, true),
      seqno: view.getUint32(4, true),
      root_hash: bytes.slice(at + 16, at + 48),
      file_hash: bytes.slice(at + 48, at + 80),
    },
    end_lt: view.getBigUint64(80, true),
    gen_utime: view.getUint32(88, true),
    mc_seqno: view.getUint32(92, true),
    key_block: (view.getUint32(112, true) & 1) !== 0,
    block: { at: view.getUint32(96, true), length: view.getUint32(100, true) },
    proof: { at: view.getUint32(104, true), length: view.getUint32(108, true) },
    proof_crc: view.getUint32(116, true),
  };
}

/** Whether the checksum of the record at an offset is right. */
function isRecord(bytes: Uint8Array, at: number, view: DataView): boolean {
  return crc32(bytes.subarray(at, at + CHECKED_BYTES)) === view.getUint32(at + CHECKED_BYTES, true);
}

/** Offsets of the fields by which blocks are looked up. */
export const FIELD_AT = {
  workchain: 0,
  seqno: 4,
  shard: 8,
  end_lt: 80,
  gen_utime: 88,
  mc_seqno: 92,
  extents: 96,
  flags: 112,
};

/** Block position of the record at an offset. */
function positionAt(view: DataView, at: number): BlockPosition {
  return {
    workchain: view.getInt32(at + FIELD_AT.workchain, true),
    shard: view.getBigUint64(at + FIELD_AT.shard, true),
    seqno: view.getUint32(at + FIELD_AT.seqno, true),
  };
}

/** First bytes of an entry. */
const ENTRY_HEAD = [0x8b, 0x1e];
const NAME = /^(block|proof|prooflink)_\((-?\d+),[0-9a-f]{16},\d+\):[0-9A-F]{64}:[0-9A-F]{64}$/;

/**
 * Checks whether bytes at the end of a pack are what a killed process may leave: a prefix of the entries of one bundle.
 *
 * @returns `null`, or the offset of an unexpected byte
 */
function unfinishedBundle(bytes: Uint8Array): { readonly offset: number; readonly problem: string } | null {
  let ended = false;
  try {
    for (const { name, offset } of readPackEntries(bytes, 0, '')) {
      const match = NAME.exec(name);
      if (match === null) return { offset, problem: 'the entry has a name that nothing in a chain has' };
      if (ended) return { offset, problem: 'the index ends more than one bundle before it' };
      ended = match[1] === 'proof';
    }
  } catch (error) {
    if (!isTernError(error)) throw error;
    const offset = Number(error.data.offset);
    const begins = ENTRY_HEAD.every((byte, i) => (bytes[offset + i] ?? byte) === byte);
    if (error.code !== 'replay/torn-pack' || !begins) return { offset, problem: 'no entry begins here' };
    if (ended) return { offset, problem: 'the index ends more than one bundle before it' };
  }
  return null;
}
