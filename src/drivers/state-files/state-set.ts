import { FileSource } from '#drivers/state-files/byte-source.js';
import { stateFilesErrors } from '#drivers/state-files/errors.js';
import { StateCells } from '#drivers/state-files/state-cells.js';
import { openStateFile, type StateFile } from '#drivers/state-files/state-file.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { BuiltCell } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, isMasterchain, printPosition, printShard, sameShard } from '#formats/proofs/block-id.js';
import {
  MAX_SPLIT_BITS,
  openStateHeader,
  readStateIdent,
  type StateIdent,
  statePartsOf,
} from '#formats/proofs/split-state.js';
import { shardHex, shardPrefixLength } from '#formats/tlb/block-id.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** The header of a divided state is parsed as a whole: it has everything but the accounts. */
const MAX_HEADER_BYTES = 256 * 2 ** 20;
/** For the first cells of a file. */
const SMALL_CACHE = 2 ** 20;

/** A file of a state, by what its first cell says. */
export type RecognizedFile =
  /** A whole `ShardStateUnsplit`. */
  | { readonly kind: 'state'; readonly file: StateFile; readonly ident: StateIdent }
  /** The header of a divided state; `state` is its visible part. */
  | { readonly kind: 'header'; readonly file: StateFile; readonly ident: StateIdent; readonly state: Cell }
  /** Accounts of a divided state. */
  | { readonly kind: 'part'; readonly file: StateFile };

/** Opens a file and reads what it is; its content is not checked yet. @throws state-files/* */
export function recognizeFile(path: string): RecognizedFile {
  const source = new FileSource(path);
  try {
    const file = openStateFile(source);
    const cells = new StateCells(file, SMALL_CACHE);
    const cell = cells.open(0);
    const data = cells.bytes.slice(cell.dataStart, cell.dataStart + cell.dataLength);
    if (cell.isExotic) return recognizeHeader(file);
    const ident = readStateIdent(new BuiltCell(data, cell.bits, [], false));
    if (ident !== null) return { kind: 'state', file, ident };
    // ahme_root$1 root:^… extra:DepthBalanceInfo
    if (cell.refCount >= 1 && cell.bits > 1 && (data[0]! & 0x80) !== 0) return { kind: 'part', file };
    const problem = 'its root is neither a shard state, nor the header of one, nor accounts of one';
    throw stateFilesErrors['not-a-state']({ file: path, offset: file.header.cellsStart, problem });
  } catch (error) {
    source.close();
    throw error;
  }
}

function recognizeHeader(file: StateFile): RecognizedFile {
  const { source, header } = file;
  const { name, size } = source;
  if (size > MAX_HEADER_BYTES) {
    const data = { what: 'the header of a divided state', size, limit: MAX_HEADER_BYTES };
    throw stateFilesErrors['too-large']({ file: name, offset: 0, ...data });
  }
  const bytes = new Uint8Array(size);
  source.read(bytes, 0);
  try {
    const state = openStateHeader(parseBocRoot(bytes));
    if (state !== null) return { kind: 'header', file, ident: readStateIdent(state)!, state };
  } catch (error) {
    if (!isTernError(error)) throw error;
    const offset = typeof error.data.byte === 'number' ? error.data.byte : header.cellsStart;
    throw stateFilesErrors.damaged({ file: name, offset, problem: error.message }, error);
  }
  const problem = 'its root is a proof of something else than a shard state';
  throw stateFilesErrors['not-a-state']({ file: name, offset: header.cellsStart, problem });
}

/** A block whose state hash is proven. */
export interface ProvenStateHash {
  readonly block: BlockId;
  readonly state_hash: Uint8Array;
}

/** The state of a shard, as some files have it. */
export interface ShardStateFiles {
  readonly proven: ProvenStateHash;
  readonly ident: StateIdent;
  /** The files with its accounts, each with the accounts of a prefix: the whole shard, or its parts. */
  readonly files: readonly {
    readonly shard: bigint;
    readonly file: StateFile;
    readonly isPart: boolean;
    /** Of its root cell. */
    readonly root_hash: Uint8Array;
  }[];
}

/** A recognized file whose bytes were verified. */
export interface VerifiedStateFile {
  readonly recognized: RecognizedFile;
  readonly root_hash: Uint8Array;
}

/** The masterchain state among some files. @throws state-files/no-masterchain, state-files/two-states */
export function masterchainOf(files: readonly RecognizedFile[]): RecognizedFile & { readonly kind: 'state' } {
  const found = files.filter((each) => each.kind === 'state' && isMasterchain(each.ident));
  const [first, second] = found;
  if (second !== undefined) throw twoStates(second, first!, 'a state of the masterchain');
  if (first?.kind === 'state') return first;
  const names = files.map(({ file }) => file.source.name);
  throw stateFilesErrors['no-masterchain']({ files: names.length === 0 ? 'there are no files' : names.join(', ') });
}

/**
 * Checks by the heads of the files that there is one for each shard, and no file of another block; before any of them is read whole.
 *
 * @param wanted the blocks of the state: the masterchain block and the newest block of each shard
 * @throws state-files/missing-state, state-files/other-state, state-files/two-states
 */
export function requireAllShards(files: readonly RecognizedFile[], wanted: readonly BlockId[]): void {
  const top = printPosition(wanted[0]!);
  for (const each of files) {
    if (each.kind === 'part' || wanted.some((block) => isOf(each.ident, block))) continue;
    throw otherState(each.file, `the state of block ${printIdent(each.ident)}`, top);
  }
  for (const block of wanted) {
    const [first, second] = files.filter((each) => each.kind !== 'part' && isOf(each.ident, block));
    if (second !== undefined) throw twoStates(second, first!, `the state of ${printShard(block)}`);
    if (first !== undefined) continue;
    throw missing(block, top, `a file with its state after block ${printPosition(block)}, or the header of one,`);
  }
}

/**
 * Assigns verified files to the shards of a state by their root hashes, which the proven hashes determine.
 *
 * @param wanted the masterchain block first
 * @throws state-files/missing-state, state-files/other-state
 */
export function assembleStates(
  files: readonly VerifiedStateFile[],
  wanted: readonly ProvenStateHash[],
): readonly ShardStateFiles[] {
  const top = printPosition(wanted[0]!.block);
  const partFiles = files.filter(({ recognized }) => recognized.kind === 'part');
  const used = new Set<VerifiedStateFile>();
  const states = wanted.map((proven): ShardStateFiles => {
    const own = files.find(({ recognized }) => recognized.kind !== 'part' && isOf(recognized.ident, proven.block))!;
    const { recognized, root_hash } = own;
    if (recognized.kind === 'part') throw missing(proven.block, top, 'its header');
    const hash = recognized.kind === 'header' ? recognized.state.hash(0) : root_hash;
    if (!bytesEqual(hash, proven.state_hash)) {
      throw otherState(recognized.file, `state hash ${toHex(hash)} instead of ${toHex(proven.state_hash)}`, top);
    }
    const { ident, file } = recognized;
    if (recognized.kind === 'state') {
      return { proven, ident, files: [{ shard: proven.block.shard, file, isPart: false, root_hash }] };
    }
    return { proven, ident, files: partsOf(recognized.state, proven.block, partFiles, used, top) };
  });
  const extra = partFiles.find((each) => !used.has(each));
  if (extra !== undefined) {
    throw otherState(extra.recognized.file, `accounts with root hash ${toHex(extra.root_hash)}`, top);
  }
  return states;
}

/** Finds the depth at which a state was divided: that one whose parts are the files. */
function partsOf(
  state: Cell,
  block: BlockId,
  files: readonly VerifiedStateFile[],
  used: Set<VerifiedStateFile>,
  top: string,
): ShardStateFiles['files'] {
  let best: { readonly found: number; readonly missing: string } = { found: -1, missing: 'all of its parts' };
  const bits = shardPrefixLength(block.shard);
  for (let depth = bits + 1; depth <= bits + MAX_SPLIT_BITS; depth++) {
    let parts: ReturnType<typeof statePartsOf>;
    try {
      parts = statePartsOf(state, depth);
    } catch (error) {
      // The header does not show nodes below the depth at which the state was divided.
      if (isTernError(error, 'cells/pruned-branch')) break;
      throw error;
    }
    const found = parts.map(({ shard, root }) => {
      const file = files.find((each) => bytesEqual(each.root_hash, root.hash(0)));
      return { shard, file };
    });
    const absent = found.filter(({ file }) => file === undefined);
    if (absent.length === 0) {
      return found.map(({ shard, file }) => {
        used.add(file!);
        return { shard, file: file!.recognized.file, isPart: true, root_hash: file!.root_hash };
      });
    }
    if (found.length - absent.length >= best.found) {
      const names = absent.map(({ shard }) => shardHex(shard)).join(', ');
      best = { found: found.length - absent.length, missing: `part ${names}` };
    }
  }
  throw missing(block, top, best.missing);
}

function isOf(ident: StateIdent, block: BlockId): boolean {
  return sameShard(ident, block) && ident.seqno === block.seqno;
}

function printIdent(ident: StateIdent): string {
  return printPosition(ident);
}

function twoStates(a: RecognizedFile, b: RecognizedFile, what: string): Error {
  return stateFilesErrors['two-states']({ file: a.file.source.name, other: b.file.source.name, what });
}

function otherState({ source, header }: StateFile, found: string, block: string): Error {
  return stateFilesErrors['other-state']({ file: source.name, offset: header.cellsStart, found, block });
}

function missing(shard: BlockId, block: string, needed: string): Error {
  return stateFilesErrors['missing-state']({ shard: printShard(shard), block, needed });
}
