import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { BOC_MAGIC, parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import { openCell } from '#formats/cells/slice.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, blockOfIdExt, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { Block } from '#formats/tlb/block.js';
import { shardOf } from '#formats/tlb/block-id.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { fromBase64, toHex } from '#kernel/bytes.js';
import { readRegularFile } from '#kernel/files.js';
import { isTernError } from '#kernel/tern-error.js';
import { isArchivePack, readArchivePack } from '#localnet/replay/archive-pack.js';
import { replayErrors } from '#localnet/replay/errors.js';

/** A bag of cells in a file of the folder, in an archive pack or alone. */
export interface RecordedBag {
  /** File and position, for errors. */
  readonly file: string;
  /** Its name in a pack; `null` if it has none. */
  readonly name: string | null;
  readonly bytes: Uint8Array;
}

/** A global config file in the folder. */
interface RecordedConfig {
  readonly file: string;
  readonly config: unknown;
}

/** The files of a folder. */
export interface RecordedFolder {
  readonly folder: string;
  readonly bags: readonly RecordedBag[];
  readonly configs: readonly RecordedConfig[];
}

/**
 * Reads all files of a folder, without subfolders: archive packs (`*.pack`, `*.pack.gz`, or recognised by content),
 * JSON lines (`*.jsonl`, `*.jsonl.gz`), bags of cells (`*.boc`, `*.boc.gz`, or recognised by content), global configs
 * (`*.config.json`). Each may end in `.br` instead of `.gz`. Other files are ignored.
 *
 * @throws replay/unreadable-folder, replay/unreadable-file, replay/not-a-pack, replay/torn-pack, replay/damaged-pack,
 * replay/bad-line, replay/bad-file
 */
export function readFolder(folder: string): RecordedFolder {
  const bags: RecordedBag[] = [];
  const configs: RecordedConfig[] = [];
  for (const file of namesIn(folder)) {
    const bytes = readPlain(join(folder, file), file);
    const plainName = file.replace(/\.(gz|br)$/, '');
    if (plainName.endsWith('.config.json')) {
      configs.push({ file, config: parseJson(bytes, file) });
    } else if (plainName.endsWith('.jsonl')) {
      bags.push(...readLines(bytes, file));
    } else if (plainName.endsWith('.pack') || isArchivePack(bytes)) {
      for (const { name, offset, data } of readArchivePack(bytes, file)) {
        if (isBag(data)) bags.push({ file: `${file}, entry at byte ${offset}`, name, bytes: data });
      }
    } else if (isBag(bytes)) {
      bags.push({ file, name: null, bytes });
    } else if (plainName.endsWith('.boc')) {
      throw replayErrors['bad-file']({ file, problem: 'it does not begin as a bag of cells' });
    }
  }
  return { folder, bags, configs };
}

function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    throw replayErrors['unreadable-folder']({ folder, problem: problemOf(error) }, error);
  }
}

function readPlain(path: string, file: string): Uint8Array {
  try {
    const bytes = readRegularFile(path);
    const plain = file.endsWith('.gz') ? gunzipSync(bytes) : file.endsWith('.br') ? brotliDecompressSync(bytes) : bytes;
    return new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength);
  } catch (error) {
    throw replayErrors['unreadable-file']({ file, problem: problemOf(error) }, error);
  }
}

function problemOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined || code === 'ENOENT' ? message : `${message} (${code})`;
}

const magics: ReadonlySet<number> = new Set(Object.values(BOC_MAGIC));

function isBag(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && magics.has(new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0));
}

function parseJson(bytes: Uint8Array, file: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw replayErrors['bad-file']({ file, problem: `it is no JSON: ${(error as Error).message}` }, error);
  }
}

/** Blocks as JSON lines: `{"name": "block_(…)…", "data": "base64"}`, with an optional name. */
function* readLines(bytes: Uint8Array, file: string): Generator<RecordedBag> {
  let line = 0;
  for (const text of new TextDecoder().decode(bytes).split('\n')) {
    line++;
    if (text.trim() === '') continue;
    let value: { readonly name?: unknown; readonly data?: unknown } | null;
    try {
      value = JSON.parse(text) as typeof value;
    } catch (error) {
      throw replayErrors['bad-line']({ file, line, problem: `is no JSON: ${(error as Error).message}` }, error);
    }
    const { name = null, data } = value ?? {};
    if (name !== null && typeof name !== 'string') {
      throw replayErrors['bad-line']({ file, line, problem: 'has a "name" that is no string' });
    }
    const bag = typeof data === 'string' ? fromBase64(data) : null;
    if (bag === null || !isBag(bag)) {
      throw replayErrors['bad-line']({ file, line, problem: 'has no "data" that is base64 of a bag of cells' });
    }
    yield { file: `${file}, line ${line}`, name, bytes: bag };
  }
}

/** A block of the folder, with the fields that link it to others. */
export interface RecordedBlock {
  readonly file: string;
  readonly id: BlockId;
  readonly bytes: Uint8Array;
  readonly prev: readonly BlockId[];
  readonly key_block: boolean;
  readonly gen_utime: number;
  readonly end_lt: bigint;
  /** For a masterchain block: the newest blocks of all shards. */
  readonly shards: readonly BlockId[];
  /** `^(MERKLE_UPDATE ShardState)` of the block. */
  readonly stateUpdate: Cell;
}

/** A zerostate of the folder. */
export interface RecordedZerostate {
  readonly file: string;
  readonly id: BlockId;
  readonly bytes: Uint8Array;
  readonly root: Cell;
}

/** A block proof of the folder. */
export interface RecordedProof {
  readonly file: string;
  readonly bytes: Uint8Array;
  readonly signed: boolean;
}

/** The content of a folder by type. Blocks and proofs are keyed by the root hash of their block, in hex. */
export interface RecordedContent {
  readonly folder: string;
  readonly blocks: ReadonlyMap<string, RecordedBlock>;
  readonly zerostates: readonly RecordedZerostate[];
  readonly proofs: ReadonlyMap<string, RecordedProof>;
}

const BLOCK = 0x11ef55aa;
const STATE = 0x9023afe2;
const BLOCK_PROOF = 0xc3;

/**
 * Recognises each bag of cells by its content. Hashes in names are compared with the content.
 * @throws replay/bad-file, replay/other-name
 */
export function sortContent({ folder, bags }: RecordedFolder): RecordedContent {
  const blocks = new Map<string, RecordedBlock>();
  const proofs = new Map<string, RecordedProof>();
  const zerostates: RecordedZerostate[] = [];
  for (const bag of bags) {
    inFile(bag.file, () => {
      const root = parseBocRoot(bag.bytes);
      const tag = root.bits >= 32 ? openTag(root, 32) : 0;
      if (tag === BLOCK) {
        const block = readBlock(bag, root);
        checkName(bag, block.id);
        blocks.set(toHex(block.id.root_hash), block);
      } else if (tag === STATE) {
        const zerostate = readZerostate(bag, root);
        if (zerostate !== null) zerostates.push(zerostate);
      } else if (root.bits >= 8 && openTag(root, 8) === BLOCK_PROOF) {
        const proof = decodeCell(BlockProof, root);
        const id = blockOfIdExt(proof.proof_for);
        checkName(bag, id);
        const key = toHex(id.root_hash);
        const signed = proof.signatures !== null;
        if (signed || !proofs.has(key)) proofs.set(key, { file: bag.file, bytes: bag.bytes, signed });
      }
    });
  }
  return { folder, blocks, zerostates, proofs };
}

function inFile(file: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!isTernError(error) || error.code.startsWith('replay/')) throw error;
    throw replayErrors['bad-file']({ file, problem: error.message }, error);
  }
}

function openTag(root: Cell, bits: number): number {
  return root.type === 0 ? openCell(root).loadUint(bits) : 0;
}

function readBlock({ file, bytes }: RecordedBag, root: Cell): RecordedBlock {
  const block = decodeCell(Block, root);
  const { shard, seq_no } = block.info.value;
  const id: BlockId = {
    workchain: shard.workchain_id,
    shard: shardOf(shard),
    seqno: seq_no,
    root_hash: root.hash().slice(),
    file_hash: sha256(bytes),
  };
  const { info, prev } = checkBlockHeader(root, id);
  const shards = isMasterchain(id)
    ? [...shardDescrs(block.extra.value.custom!.value.shard_hashes)].map(blockOfShard)
    : [];
  const { key_block, gen_utime, end_lt } = info;
  return { file, id, bytes, prev, key_block, gen_utime, end_lt, shards, stateUpdate: root.ref(2) };
}

function readZerostate({ file, bytes }: RecordedBag, root: Cell): RecordedZerostate | null {
  const { shard_id, seq_no } = decodeCell(ShardStateUnsplit, root);
  if (seq_no !== 0) return null;
  const id = { workchain: shard_id.workchain_id, shard: shardOf(shard_id), seqno: 0 };
  return { file, id: { ...id, root_hash: root.hash().slice(), file_hash: sha256(bytes) }, bytes, root };
}

const NAME = /^\w+_\((-?\d+),([0-9a-fA-F]{16}),(\d+)\):([0-9a-fA-F]{64}):([0-9a-fA-F]{64})$/;

function checkName({ file, name }: RecordedBag, id: BlockId): void {
  const match = name === null ? null : NAME.exec(name);
  if (match === null) return;
  const [, workchain, shard, seqno, rootHash, fileHash] = match;
  const place = `(${workchain},${shard!.toLowerCase()},${seqno})`;
  const fields: readonly (readonly [field: string, named: string, found: string])[] = [
    ['block', place, printPosition(id)],
    ['root hash', rootHash!.toLowerCase(), toHex(id.root_hash)],
    ['file hash', fileHash!.toLowerCase(), toHex(id.file_hash)],
  ];
  for (const [field, named, found] of fields) {
    if (named !== found) throw replayErrors['other-name']({ file, field, named, found });
  }
}
