import { Builder, BuiltCell } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { splitAugmentedDictionary } from '#formats/cells/dict-edit.js';
import { openMerkleProof, prune, UsageTracker, untracked, wrapMerkleProof } from '#formats/cells/merkle-proof.js';
import { openCell } from '#formats/cells/slice.js';
import { ShardAccounts } from '#formats/tlb/account.js';
import { ShardIdent, shardOf, shardPrefixLength } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { BitString } from '#kernel/bytes.js';

/** Bits that a split goes beyond the prefix of the shard at most: 64 parts. */
export const MAX_SPLIT_BITS = 6;

const ACCOUNTS_REF = 1;
const ACCOUNT_BITS = 256;
const SHARD_STATE = 0x9023afe2;

/** What the root cell of a shard state says of it. */
export interface StateIdent {
  readonly global_id: number;
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  /** Unix seconds. */
  readonly gen_utime: number;
}

/**
 * Reads the start of a `ShardStateUnsplit`; null: the cell is another one.
 *
 * `shard_state#9023afe2 global_id:int32 shard_id:ShardIdent seq_no:uint32 vert_seq_no:# gen_utime:uint32 …`
 */
export function readStateIdent(root: Cell): StateIdent | null {
  if (root.type !== CellType.ordinary || root.bits < 32) return null;
  const slice = openCell(root);
  if (slice.loadUint(32) !== SHARD_STATE) return null;
  const global_id = slice.loadInt(32);
  const ident = ShardIdent.load(slice);
  const seqno = slice.loadUint(32);
  slice.loadUint(32); // vert_seq_no
  return { global_id, workchain: ident.workchain_id, shard: shardOf(ident), seqno, gen_utime: slice.loadUint(32) };
}

/** Accounts of a shard state whose ids begin with the prefix of `shard`. */
export interface StatePart {
  /** The prefix, as the id of a shard below that of the state. */
  readonly shard: bigint;
  /** `ShardAccounts` with these accounts only; of a pruned state its `hash(0)` is that of the part. */
  readonly root: Cell;
}

/**
 * The accounts of a state by the first `depth` bits of their ids; parts without accounts are left out. This is how nodes divide large
 * states into files.
 *
 * @param state `ShardStateUnsplit`, of which cells below the parts may be pruned
 * @param depth more than the prefix of the shard has bits, by {@link MAX_SPLIT_BITS} at most
 * @throws cells/pruned-branch when the visible part of the state does not reach so deep
 */
export function statePartsOf(state: Cell, depth: number): readonly StatePart[] {
  return splitAccounts(state.ref(ACCOUNTS_REF), readStateIdent(state)!.shard, depth);
}

function splitAccounts(accounts: Cell, shard: bigint, depth: number): readonly StatePart[] {
  const { root, type } = decodeCell(ShardAccounts, accounts);
  const parts: StatePart[] = [];
  for (const prefix of partShards(shard, depth)) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, prefix);
    const bits = new BitString(bytes, depth);
    const part = splitAugmentedDictionary(root, ACCOUNT_BITS, bits, type.augmentation);
    if (part.root === null) continue;
    const cell = new Builder().storeBit(true).storeRef(part.root).storeBuilder(part.extra).endCell();
    parts.push({ shard: prefix, root: cell });
  }
  return parts;
}

/** The shards into which a shard is divided, with prefixes of `depth` bits. */
export function partShards(shard: bigint, depth: number): bigint[] {
  const bits = shardPrefixLength(shard);
  const step = 1n << BigInt(64 - depth);
  const first = shard ^ (1n << BigInt(63 - bits)) ^ (1n << BigInt(63 - depth));
  return Array.from({ length: 2 ** (depth - bits) }, (_, i) => first + BigInt(i) * step);
}

/**
 * The header of a state that is divided into parts: a Merkle proof of everything but the accounts, with the nodes of their dictionary
 * from which the hashes of the parts follow.
 */
export function splitStateHeader(state: Cell, depth: number): Cell {
  const tracker = new UsageTracker();
  const accounts = untracked(state.ref(ACCOUNTS_REF));
  splitAccounts(tracker.track(accounts), readStateIdent(state)!.shard, depth);
  const refs = Array.from({ length: state.refCount }, (_, i) => untracked(state.ref(i)));
  refs[ACCOUNTS_REF] = prune(accounts, (cell) => !tracker.has(cell.hash()), 0);
  const data = state.bytes.slice(state.dataOffset, state.dataOffset + ((state.bits + 7) >> 3));
  return wrapMerkleProof(new BuiltCell(data, state.bits, refs, false));
}

/** The visible state in a {@link splitStateHeader}; null: the cell is none. @throws cells/* for a malformed proof */
export function openStateHeader(header: Cell): Cell | null {
  if (header.type !== CellType.merkleProof) return null;
  const state = openMerkleProof(header);
  return readStateIdent(state) === null ? null : state;
}
