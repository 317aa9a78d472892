import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Cell } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import {
  type BlockId,
  type BlockPosition,
  isMasterchain,
  printPosition,
  type Shard,
  sameBlock,
} from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/shard-block.js';
import { shardContains } from '#formats/tlb/block-id.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import { listFolder } from '#localnet/ledger/ledger-files.js';
import {
  type BlockRecord,
  FIELD_AT,
  type NewEntry,
  Pack,
  packName,
  RECORD_BYTES,
  readRecord,
  type VisitBlock,
} from '#localnet/ledger/pack.js';
import type { LedgerBlock } from '#localnet/liteserver/ledger.js';
import { ParsedBlocks } from '#localnet/replay/parsed-blocks.js';

export interface BlockFilesOptions {
  /** Size of a pack after which a new one is started. */
  readonly packBytes: number;
}

/** Index records are read in pages of this many. */
const PAGE = 64;
/** Cached pages of 7,936 bytes each. */
const CACHED_PAGES = 512;
const CACHED_FILES_BYTES = 16 * 2 ** 20;
const CACHED_CELLS_BYTES = 16 * 2 ** 20;
/** Maximum number of open packs. */
const OPEN_PACKS = 32;

/** The blocks of a chain in a folder. Recently read ones are cached; the others stay on disk. */
export class BlockFiles {
  readonly #folder: string;
  readonly #options: BlockFilesOptions;
  readonly lists = new BlockLists();
  readonly #packs: Pack[] = [];
  /** Numbers of the first blocks of the packs. */
  readonly #starts: number[] = [];
  /** Packs opened for reading, the least recently used one first. */
  readonly #open = new Set<Pack>();
  /** Cached pages of records, keyed by the number of their first record. */
  readonly #pages = new Map<number, DataView>();
  readonly #keys: BlockKeys = {
    seqno: (number) => this.#field(number, FIELD_AT.seqno),
    gen_utime: (number) => this.#field(number, FIELD_AT.gen_utime),
    end_lt: (number) => {
      const { view, at } = this.#page(number);
      return view.getBigUint64(at + FIELD_AT.end_lt, true);
    },
  };
  readonly #files = new LruByBytes<Uint8Array>(CACHED_FILES_BYTES);
  readonly #parsed = new ParsedBlocks(CACHED_CELLS_BYTES);
  #sealed = false;

  private constructor(folder: string, options: BlockFilesOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /**
   * Opens the packs of a folder, which may have none. An incomplete bundle at their end is cut off.
   * @throws ledger/damaged, ledger/missing-file, ledger/unreadable, ledger/unwritable
   */
  static open(folder: string, options: BlockFilesOptions): BlockFiles {
    const files = new BlockFiles(folder, options);
    try {
      files.#openAll();
    } catch (error) {
      files.close();
      throw error;
    }
    return files;
  }

  /** The files of the packs; they do not change any more once {@link seal} was called. */
  get paths(): readonly string[] {
    return this.#packs.flatMap(({ file, indexFile, count }) => (count === 0 ? [] : [file, indexFile]));
  }

  /** Appends the blocks of the next bundle, the masterchain block last. @throws ledger/unwritable */
  append(entries: readonly NewEntry[]): readonly BlockRecord[] {
    const records = this.#packForNext().append(entries);
    entries.forEach(({ bytes }, i) => {
      this.#files.set(toHex(records[i]!.id.root_hash), bytes, bytes.length);
      const { id, key_block } = records[i]!;
      this.lists.add(id, key_block);
    });
    return records;
  }

  /** Existing files are not written to any more: the next bundle starts a new pack. */
  seal(): void {
    this.#sealed = true;
  }

  /** The block with a number: blocks are numbered from 0 in the order in which they were added. */
  record(number: number): BlockRecord {
    const { view, at } = this.#page(number);
    const record = readRecord(new Uint8Array(view.buffer), at);
    if (record !== null) return record;
    const { pack, start } = this.#packOf(number);
    const problem = 'the checksum of the record is wrong';
    throw ledgerErrors.damaged({ file: pack.indexFile, offset: (number - start) * RECORD_BYTES, problem });
  }

  find(query: BlockQuery): BlockRecord | null {
    const number = this.lists.find(query, this.#keys);
    return number === null ? null : this.record(number);
  }

  /** The block with exactly this id. */
  get(id: BlockId): BlockRecord | null {
    const number = this.lists.inShard(id, this.#keys);
    const found = number === null ? null : this.record(number);
    return found !== null && sameBlock(found.id, id) ? found : null;
  }

  /** The blocks of a bundle, the masterchain block last. */
  *bundle(mc_seqno: number): Generator<BlockRecord> {
    const { first, last } = this.lists.bundle(mc_seqno);
    for (let number = first; number <= last; number++) yield this.record(number);
  }

  masterchainBlock(seqno: number): BlockRecord {
    return this.record(this.lists.bundle(seqno).last);
  }

  /** The block file. @throws ledger/damaged when its hash differs from the id */
  bytes(record: BlockRecord): Uint8Array {
    const key = toHex(record.id.root_hash);
    const known = this.#files.get(key);
    if (known !== undefined) return known;
    const pack = this.#packOfRound(record.mc_seqno);
    const bytes = this.#use(pack).read(record.block);
    if (!bytesEqual(sha256(bytes), record.id.file_hash)) {
      const problem = `this is not block ${printPosition(record.id)}, since its hash is another`;
      throw ledgerErrors.damaged({ file: pack.file, offset: record.block.at, problem });
    }
    this.#files.set(key, bytes, bytes.length);
    return bytes;
  }

  /** The root cell of a block; recently parsed blocks are cached. */
  root(record: BlockRecord): Cell {
    return this.#parsed.root(this.bytes(record));
  }

  /** The block proof file. @throws ledger/damaged */
  proof(record: BlockRecord): Uint8Array {
    const pack = this.#packOfRound(record.mc_seqno);
    const bytes = this.#use(pack).read(record.proof);
    if (crc32(bytes) === record.proof_crc) return bytes;
    const problem = `this is not the proof of block ${printPosition(record.id)}, since its checksum is another`;
    throw ledgerErrors.damaged({ file: pack.file, offset: record.proof.at, problem });
  }

  /** Where the blocks of a bundle start, for errors about them. */
  placeOf(mc_seqno: number): { readonly file: string; readonly offset: number } {
    const offset = this.record(this.lists.bundle(mc_seqno).first).block.at;
    return { file: this.#packOfRound(mc_seqno).file, offset };
  }

  close(): void {
    for (const pack of this.#packs) pack.close();
    this.#open.clear();
  }

  #openAll(): void {
    const found = listFolder(this.#folder).map((name) => /^archive\.(\d+)\.(pack|index)$/.exec(name));
    const firsts = new Set(found.flatMap((match) => (match === null ? [] : [Number(match[1])])));
    const ordered = [...firsts].sort((a, b) => a - b);
    let next = 1;
    const visit: VisitBlock = (id, key_block) => this.lists.add(id, key_block);
    for (const [i, first] of ordered.entries()) {
      if (first !== next) throw this.#missing(next);
      const start = this.lists.count;
      const pack = Pack.open(this.#folder, first, i === ordered.length - 1, visit);
      if (pack.mcBlocks === 0 && i < ordered.length - 1) throw this.#missing(next);
      this.#packs.push(pack);
      this.#starts.push(start);
      next += pack.mcBlocks;
    }
  }

  #missing(first: number): Error {
    const file = join(this.#folder, packName(first, 'pack'));
    return ledgerErrors['missing-file']({ file, needed: `it has the blocks from masterchain block ${first} on` });
  }

  #field(number: number, offset: number): number {
    const { view, at } = this.#page(number);
    return view.getUint32(at + offset, true);
  }

  /** The page that contains a record, and the record's offset in it. */
  #page(number: number): { readonly view: DataView; readonly at: number } {
    const { pack, start } = this.#packOf(number);
    const within = (number - start) % PAGE;
    const first = number - within;
    const known = this.#pages.get(first);
    if (known !== undefined && known.byteLength > within * RECORD_BYTES)
      return { view: known, at: within * RECORD_BYTES };
    const count = Math.min(PAGE, pack.count - (first - start));
    const view = new DataView(this.#use(pack).readIndex(first - start, count).buffer);
    if (this.#pages.size >= CACHED_PAGES) this.#pages.clear();
    this.#pages.set(first, view);
    return { view, at: within * RECORD_BYTES };
  }

  #packForNext(): Pack {
    const last = this.#packs.at(-1);
    const isFull = last === undefined || last.size >= this.#options.packBytes || this.#sealed || last.isShared;
    // A pack without blocks, left by a killed process, is reused.
    if (last !== undefined && (!isFull || last.count === 0)) return last;
    const pack = Pack.create(this.#folder, this.lists.mcBlocks + 1);
    last?.close();
    this.#packs.push(pack);
    this.#starts.push(this.lists.count);
    this.#sealed = false;
    return pack;
  }

  #packOf(number: number): { readonly pack: Pack; readonly start: number } {
    let index = this.#starts.length - 1;
    if (number < this.#starts[index]!) index = lastUpTo(this.#starts, number);
    return { pack: this.#packs[index]!, start: this.#starts[index]! };
  }

  #packOfRound(mc_seqno: number): Pack {
    const last = this.#packs.at(-1)!;
    if (mc_seqno >= last.first) return last;
    return this.#packOf(this.lists.bundle(mc_seqno).last).pack;
  }

  /** Limits the number of open files. */
  #use(pack: Pack): Pack {
    if (pack === this.#packs.at(-1)) return pack;
    this.#open.delete(pack);
    this.#open.add(pack);
    for (const oldest of this.#open) {
      if (this.#open.size <= OPEN_PACKS) break;
      oldest.close();
      this.#open.delete(oldest);
    }
    return pack;
  }
}

/** A block of a live chain; its file is read on demand. */
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

/** The blocks of one shard, by their number: ascending in seqno and lt, not descending in time. */
interface ShardBlocks {
  readonly shard: bigint;
  readonly numbers: NumberList;
}

/** Reads the fields by which blocks are looked up, given the number of a block. */
export interface BlockKeys {
  seqno(number: number): number;
  end_lt(number: number): bigint;
  gen_utime(number: number): number;
}

/**
 * Which blocks belong to which shard, and which are key blocks, in four bytes per block. All else is read from the
 * files.
 */
class BlockLists {
  readonly #workchains = new Map<number, Map<bigint, ShardBlocks>>();
  readonly #masterchain = new NumberList();
  readonly #keyBlocks = new NumberList();
  #count = 0;

  /** Number of blocks. */
  get count(): number {
    return this.#count;
  }

  /** Number of masterchain blocks. */
  get mcBlocks(): number {
    return this.#masterchain.length;
  }

  /** Adds the next block. */
  add(id: BlockPosition, key_block: boolean): void {
    const number = this.#count++;
    this.#shard(id).push(number);
    if (!isMasterchain(id)) return;
    this.#masterchain.push(number);
    if (key_block) this.#keyBlocks.push(id.seqno);
  }

  hasWorkchain(workchain: number): boolean {
    return this.#workchains.has(workchain);
  }

  /** Numbers of the first block and of the masterchain block, which is the last one, of a bundle. */
  bundle(mc_seqno: number): { readonly first: number; readonly last: number } {
    const first = mc_seqno === 1 ? 0 : this.#masterchain.at(mc_seqno - 2) + 1;
    return { first, last: this.#masterchain.at(mc_seqno - 1) };
  }

  /** Seqno of the newest key block up to a seqno; 0 if there is none. */
  keyBlockUpTo(seqno: number): number {
    const after = this.#keyBlocks.firstIndex((key) => key > seqno);
    return after === 0 ? 0 : this.#keyBlocks.at(after - 1);
  }

  /** Seqno of the oldest key block from a seqno on; `null` if there is none. */
  keyBlockFrom(seqno: number): number | null {
    const index = this.#keyBlocks.firstIndex((key) => key >= seqno);
    return index === this.#keyBlocks.length ? null : this.#keyBlocks.at(index);
  }

  /** Number of the first block that matches the query, among all shards that contain the prefix. */
  find(query: BlockQuery, keys: BlockKeys): number | null {
    const reaches = test(query, keys);
    let first: number | null = null;
    for (const { shard, numbers } of this.#workchains.get(query.workchain)?.values() ?? []) {
      if (!shardContains(shard, query.shard)) continue;
      const index = numbers.firstIndex(reaches);
      if (index === numbers.length) continue;
      const found = numbers.at(index);
      if (first === null || keys.seqno(found) < keys.seqno(first)) first = found;
    }
    return first !== null && query.by === 'seqno' && keys.seqno(first) !== query.seqno ? null : first;
  }

  /** Number of the block of exactly this shard with a seqno. */
  inShard({ workchain, shard, seqno }: BlockPosition, keys: BlockKeys): number | null {
    const numbers = this.#workchains.get(workchain)?.get(shard)?.numbers;
    if (numbers === undefined) return null;
    // Seqnos are consecutive, except while the shard was split.
    const last = numbers.length - 1;
    const guess = last - (keys.seqno(numbers.at(last)) - seqno);
    if (guess >= 0 && guess <= last && keys.seqno(numbers.at(guess)) === seqno) return numbers.at(guess);
    const index = numbers.firstIndex((number) => keys.seqno(number) >= seqno);
    return index > last || keys.seqno(numbers.at(index)) !== seqno ? null : numbers.at(index);
  }

  #shard({ workchain, shard }: Shard): NumberList {
    let shards = this.#workchains.get(workchain);
    if (shards === undefined) {
      shards = new Map();
      this.#workchains.set(workchain, shards);
    }
    let blocks = shards.get(shard);
    if (blocks === undefined) {
      blocks = { shard, numbers: new NumberList() };
      shards.set(shard, blocks);
    }
    return blocks.numbers;
  }
}

/** A test that holds for the block that is looked up and all later ones. */
function test(query: BlockQuery, keys: BlockKeys): (number: number) => boolean {
  switch (query.by) {
    case 'seqno':
      return (number) => keys.seqno(number) >= query.seqno;
    case 'lt':
      return (number) => keys.end_lt(number) >= query.lt;
    case 'utime':
      return (number) => keys.gen_utime(number) >= query.utime;
  }
}

/** A growing list of numbers below 2^32, in four bytes each. */
class NumberList {
  #numbers = new Uint32Array(16);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const grown = new Uint32Array(this.#length + (this.#length >> 1));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[this.#length++] = number;
  }

  /** @param index below {@link length} */
  at(index: number): number {
    return this.#numbers[index]!;
  }

  /** The least index whose number passes, or the length; all numbers after one that passes must pass. */
  firstIndex(passes: (number: number) => boolean): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (passes(this.#numbers[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Index of the last number that is not greater, in an ascending list; -1 if all are greater. */
function lastUpTo(numbers: readonly number[], wanted: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
