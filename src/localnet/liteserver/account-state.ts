import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerAccountState, LiteServerGetAccountState } from '#formats/tl/lite-api.js';
import { Account } from '#formats/tlb/account.js';
import { accountPrefix, MASTERCHAIN, shardContains } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import {
  headOf,
  isValidId,
  isValidShard,
  LATEST_SEQNO,
  loadBlock,
  loadMasterchainBlock,
  MerkleReader,
  openMcState,
  openState,
  refused,
  stateRootProof,
  visitEach,
  WORKCHAIN_INVALID,
} from '#localnet/liteserver/block-access.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { leafShard, readShard } from '#localnet/liteserver/shard-links.js';

const NOTHING = new Uint8Array();

/** A block id that identifies no block. */
export const NO_BLOCK: BlockId = {
  workchain: WORKCHAIN_INVALID,
  shard: 0n,
  seqno: 0,
  root_hash: new Uint8Array(32),
  file_hash: new Uint8Array(32),
};

/** Account states. */
export const accountStateHandlers: LiteHandlers<'liteServer.getAccountState' | 'liteServer.getAccountStatePrunned'> = {
  'liteServer.getAccountState': (args, { ledger }) => accountState(ledger, args, (account) => account),
  'liteServer.getAccountStatePrunned': (args, { ledger }) => accountState(ledger, args, pruneAccount),
};

/** The account without code, data and libraries, as a Merkle proof. */
function pruneAccount(cell: Cell): Cell {
  const reader = new MerkleReader(cell);
  const account = decodeCell(Account, reader.root);
  if (account.kind === 'account') visitEach([account.storage.balance.other.root]);
  return reader.proof();
}

function accountState(
  ledger: Ledger,
  { id: idTl, account }: LiteServerGetAccountState,
  show: (account: Cell) => Cell,
): LiteServerAccountState {
  const place = findAccount(ledger, blockIdFromTl(idTl), account);
  if (place.shardBlock === null) return noWorkchain(place);
  const { proof, account: found } = accountProof(ledger, place.shardBlock, account.id);
  return {
    id: blockIdToTl(place.block.id),
    shardblk: blockIdToTl(place.shardBlock.id),
    shard_proof: place.shard_proof,
    proof,
    state: found === null ? NOTHING : serializeBoc(show(found)),
  };
}

/** Where the state of an account is found, seen from a block. */
export interface AccountPlace {
  readonly block: LedgerBlock;
  /** The newest block of its shard; null when the workchain does not exist. */
  readonly shardBlock: LedgerBlock | null;
  /** Two roots, block header and state; empty for an account of the block's own workchain. */
  readonly shard_proof: Uint8Array;
}

/** The answer when the workchain does not exist. */
export function noWorkchain({ block, shard_proof }: AccountPlace): LiteServerAccountState {
  const reference = blockIdToTl(block.id);
  return { id: reference, shardblk: blockIdToTl(NO_BLOCK), shard_proof, proof: NOTHING, state: NOTHING };
}

/** @throws liteserver/refused, liteserver/not-ready */
export function findAccount(
  ledger: Ledger,
  id: BlockId,
  { workchain, id: hash }: LiteServerGetAccountState['account'],
): AccountPlace {
  const prefix = accountPrefix(hash);
  if (id.workchain !== MASTERCHAIN && id.workchain !== workchain) {
    throw refused('reference block for a getAccountState() must belong to the masterchain');
  }
  if (!isValidShard(id)) throw refused('reference block id for a getAccountState() is invalid');
  if (workchain === id.workchain && !shardContains(id.shard, prefix)) {
    throw refused('requested account id is not contained in the shard of the reference block');
  }
  const block = blockOf(ledger, id);
  if (block.id.workchain === workchain) return { block, shardBlock: block, shard_proof: NOTHING };
  const { shard, proof } = shardOfAccount(ledger, block, workchain, prefix);
  return { block, shardBlock: shard === null ? null : loadBlock(ledger, shard), shard_proof: proof };
}

function blockOf(ledger: Ledger, id: BlockId): LedgerBlock {
  if (id.workchain === MASTERCHAIN) {
    return id.seqno === LATEST_SEQNO ? headOf(ledger) : loadMasterchainBlock(ledger, id);
  }
  if (!isValidId(id)) throw refused('invalid block id requested');
  return loadBlock(ledger, id);
}

/** The newest block of an account's shard, and its proof: two roots, block header and state. */
function shardOfAccount(ledger: Ledger, block: LedgerBlock, workchain: number, prefix: bigint) {
  const reader = new MerkleReader(ledger.state(block));
  const entry = readShard(openMcState(reader.root).extra.shard_hashes, leafShard(workchain, prefix));
  return {
    shard: entry === null ? null : blockOfShard(entry),
    proof: serializeBoc([stateRootProof(block.root), reader.proof()]),
  };
}

/** The cell of an account after a block, and its proof: two roots, block header and state. */
export function accountProof(ledger: Ledger, block: LedgerBlock, hash: Uint8Array) {
  const reader = new MerkleReader(ledger.state(block));
  const found = openState(reader.root).accounts.value.get(hash);
  return {
    proof: serializeBoc([stateRootProof(block.root), reader.proof()]),
    account: found === undefined ? null : found.account.cell,
  };
}
