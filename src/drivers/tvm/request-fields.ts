import { tvmErrors } from '#drivers/tvm/errors.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { setEntry } from '#formats/cells/dict-edit.js';
import { lookup } from '#formats/cells/dict-read.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { VM_NULL, VmStackValue, vmInt, vmTuple } from '#formats/tlb/vm-stack.js';
import { bytesEqual, toBase64, toHex } from '#kernel/bytes.js';

/** @throws tvm/bad-request when the cell has pruned parts */
export function wholeCellBoc(field: string, cell: Cell): Uint8Array {
  return serializeBoc(requireWhole(field, cell));
}

/** @throws tvm/bad-request when the cell has pruned parts */
export function requireWhole(field: string, cell: Cell): Cell {
  if (cell.levelMask === 0) return cell;
  throw tvmErrors['bad-request']({ field, found: 'a cell with pruned parts', accepted: 'whole cells' });
}

/** @param root of a dictionary; null for the empty one @throws tvm/bad-request */
export function librariesBoc(root: Cell | null): Uint8Array | null {
  return root === null ? null : wholeCellBoc('libraries', root);
}

/** @throws tvm/bad-request */
export function uint32Of(field: string, value: number): number {
  if (value >>> 0 === value) return value;
  throw tvmErrors['bad-request']({ field, found: String(value), accepted: 'a whole number from 0 to 2^32 - 1' });
}

/** @throws tvm/bad-request */
export function uint64Of(field: string, value: bigint): string {
  if (BigInt.asUintN(64, value) === value) return value.toString();
  throw tvmErrors['bad-request']({ field, found: String(value), accepted: 'a whole number from 0 to 2^64 - 1' });
}

/** The emulator reads int64, so the top bit must be 0. @throws tvm/bad-request */
export function uint63Of(field: string, value: bigint): string {
  if (BigInt.asUintN(63, value) === value) return value.toString();
  throw tvmErrors['bad-request']({ field, found: String(value), accepted: 'a whole number from 0 to 2^63 - 1' });
}

/** Default: zeros. @throws tvm/bad-request */
export function randSeedOf(seed: Uint8Array | undefined): string {
  if (seed === undefined) return '0'.repeat(64);
  if (seed.length === 32) return toHex(seed);
  throw tvmErrors['bad-request']({ field: 'rand_seed', found: `${seed.length} bytes`, accepted: '32 bytes' });
}

/** Log levels: executed instructions; their code location; remaining gas; the stack; the stack with cells. */
export const LOG_LEVELS = [
  'short',
  'full',
  'full_location',
  'full_location_gas',
  'full_location_stack',
  'full_location_stack_verbose',
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A complete block id. */
export interface TvmBlockId {
  readonly workchain: number;
  /** uint64 */
  readonly shard: bigint;
  readonly seqno: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}

/** Previous blocks visible to contracts: `PREVMCBLOCKS`, `PREVKEYBLOCK`, `PREVMCBLOCKS_100`. */
export interface TvmPrevBlocksInfo {
  /** The last 16 masterchain blocks, newest first. */
  readonly last_mc_blocks: readonly TvmBlockId[];
  readonly prev_key_block: TvmBlockId;
  /** The last 16 masterchain blocks with a seqno divisible by 100, newest first; visible from global version 9. */
  readonly last_mc_blocks_100: readonly TvmBlockId[];
}

/** The info as a tuple of two items, from global version 9 three. Null means none. */
export function prevBlocksTuple(info: TvmPrevBlocksInfo | null, globalVersion: number): VmStackValue {
  if (info === null) return VM_NULL;
  const lists = [vmTuple(info.last_mc_blocks.map(blockTuple)), blockTuple(info.prev_key_block)];
  if (globalVersion >= 9) lists.push(vmTuple(info.last_mc_blocks_100.map(blockTuple)));
  return vmTuple(lists);
}

/** Cache of encoded infos: the same object is used for many runs. */
const texts = new WeakMap<TvmPrevBlocksInfo, { readonly globalVersion: number; readonly text: string }>();

/** The tuple in the form that the emulator reads. */
export function prevBlocksText(info: TvmPrevBlocksInfo, globalVersion: number): string {
  const known = texts.get(info);
  if (known?.globalVersion === globalVersion) return known.text;
  const text = toBase64(serializeBoc(encodeCell(VmStackValue, prevBlocksTuple(info, globalVersion))));
  texts.set(info, { globalVersion, text });
  return text;
}

/** `[wc:Integer shard:Integer seqno:Integer root_hash:Integer file_hash:Integer]` */
function blockTuple({ workchain, shard, seqno, root_hash, file_hash }: TvmBlockId): VmStackValue {
  return vmTuple([vmInt(workchain), vmInt(shard), vmInt(seqno), hashInt(root_hash), hashInt(file_hash)]);
}

function hashInt(hash: Uint8Array): VmStackValue {
  return vmInt(BigInt(`0x${toHex(hash)}`));
}

/** Resolves libraries by hash; null for a library that does not exist. */
export type ResolveLibrary = (hashes: readonly Uint8Array[]) => Promise<readonly (Cell | null)[]>;

/** Search limits of the reference implementation. */
const MAX_DEPTH = 24;
const MAX_FOUND = 32;

/** Hashes of at most 32 libraries referenced in the code down to depth 24, in breadth-first order. */
export function findLibraries(code: Cell): Uint8Array[] {
  const found: Uint8Array[] = [];
  const seen = new Set<string>();
  let level: Cell[] = [code];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const below: Cell[] = [];
    for (const cell of level) {
      const key = toHex(cell.hash());
      if (seen.has(key)) continue;
      seen.add(key);
      if (cell.type === CellType.libraryReference) {
        if (found.length === MAX_FOUND) return found;
        found.push(cell.bytes.slice(cell.dataOffset + 1, cell.dataOffset + 33));
      } else if (cell.type === CellType.ordinary) {
        for (let i = 0; i < cell.refCount; i++) below.push(cell.ref(i));
      }
    }
    level = below;
  }
  return found;
}

/** The libraries available to a run: those of the request and those fetched for it. */
export class LibraryCollection {
  readonly #resolve: ResolveLibrary | null;
  readonly #missing = new Set<string>();
  /** A `HashmapE 256 ^Cell`; values may have further content (`LibDescr`). */
  root: Cell | null;

  constructor(root: Cell | null, resolve: ResolveLibrary | null) {
    this.root = root;
    this.#resolve = resolve;
  }

  /**
   * Fetches missing libraries.
   *
   * @returns whether any was added
   * @throws tvm/bad-library, and errors of the resolver
   */
  async add(hashes: readonly Uint8Array[]): Promise<boolean> {
    const wanted = hashes.filter((hash) => !this.#missing.has(toHex(hash)) && lookup(this.root, 256, hash) === null);
    if (this.#resolve === null || wanted.length === 0) return false;
    const cells = await this.#resolve(wanted);
    let more = false;
    wanted.forEach((hash, i) => {
      const cell = cells[i] ?? null;
      if (cell === null) {
        this.#missing.add(toHex(hash));
        return;
      }
      if (!bytesEqual(cell.hash(), hash)) {
        throw tvmErrors['bad-library']({ wanted: toHex(hash), found: toHex(cell.hash()) });
      }
      const value = new Builder().storeRef(cell);
      this.root = setEntry(this.root, 256, hash, value);
      more = true;
    });
    return more;
  }
}
