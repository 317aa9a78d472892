import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerAccountState } from '#formats/tl/generated/lite-server.js';
import type { LiteServerGetAccountState } from '#formats/tl/generated/lite-server-functions.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { accountPrefix, MASTERCHAIN, shardContains } from '#formats/tlb/shard-ident.js';
import { openMcState, openState, stateRootProof } from '#localnet/liteserver/block-reading.js';
import {
  headOf,
  isValidId,
  isValidShard,
  LATEST_SEQNO,
  loadBlock,
  loadMasterchainBlock,
  refused,
  WORKCHAIN_INVALID,
} from '#localnet/liteserver/find-block.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader, visitEach } from '#localnet/liteserver/merkle-reader.js';
import { leafShard, readShard } from '#localnet/liteserver/shard-links.js';

const NOTHING = new Uint8Array();

/** An id that names no block. */
export const NO_BLOCK: BlockId = {
  workchain: WORKCHAIN_INVALID,
  shard: 0n,
  seqno: 0,
  root_hash: new Uint8Array(32),
  file_hash: new Uint8Array(32),
};

/** States of accounts. */
export const accountStateHandlers: LiteHandlers<'liteServer.getAccountState' | 'liteServer.getAccountStatePrunned'> = {
  'liteServer.getAccountState': (args, { ledger }) => accountState(ledger, args, (account) => account),
  'liteServer.getAccountStatePrunned': (args, { ledger }) => accountState(ledger, args, pruneAccount),
};

/** The account without code, data and libraries, as a proof. */
function pruneAccount(cell: Cell): Cell {
  const reader = new MerkleReader(cell);
  const account = decodeCell(Account, reader.root);
  if (account.kind === 'account') visitEach([account.storage.balance.other.root]);
  return reader.proof();
}

function accountState(
  ledger: Ledger,
  { id: idTl, account: { workchain, id: hash } }: LiteServerGetAccountState,
  show: (account: Cell) => Cell,
): LiteServerAccountState {
  const id = blockIdFromTl(idTl);
  const prefix = accountPrefix(hash);
  if (id.workchain !== MASTERCHAIN && id.workchain !== workchain) {
    throw refused('reference block for a getAccountState() must belong to the masterchain');
  }
  if (!isValidShard(id)) throw refused('reference block id for a getAccountState() is invalid');
  if (workchain === id.workchain && !shardContains(id.shard, prefix)) {
    throw refused('requested account id is not contained in the shard of the reference block');
  }
  const block = blockOf(ledger, id);
  const reference = blockIdToTl(block.id);
  if (block.id.workchain === workchain) {
    return { id: reference, shardblk: reference, shard_proof: NOTHING, ...accountProof(ledger, block, hash, show) };
  }
  const { shard, proof } = shardOfAccount(ledger, block, workchain, prefix);
  if (shard === null) {
    return { id: reference, shardblk: blockIdToTl(NO_BLOCK), shard_proof: proof, proof: NOTHING, state: NOTHING };
  }
  const shardBlock = loadBlock(ledger, shard);
  return {
    id: reference,
    shardblk: blockIdToTl(shard),
    shard_proof: proof,
    ...accountProof(ledger, shardBlock, hash, show),
  };
}

function blockOf(ledger: Ledger, id: BlockId): LedgerBlock {
  if (id.workchain === MASTERCHAIN) {
    return id.seqno === LATEST_SEQNO ? headOf(ledger) : loadMasterchainBlock(ledger, id);
  }
  if (!isValidId(id)) throw refused('invalid block id requested');
  return loadBlock(ledger, id);
}

/** The newest block of the shard that an account belongs to, and the proof of that: two roots, header and state. */
function shardOfAccount(ledger: Ledger, block: LedgerBlock, workchain: number, prefix: bigint) {
  const reader = new MerkleReader(ledger.state(block));
  const entry = readShard(openMcState(reader.root).extra.shard_hashes, leafShard(workchain, prefix));
  return {
    shard: entry === null ? null : blockOfShard(entry),
    proof: serializeBoc([stateRootProof(block.root), reader.proof()]),
  };
}

function accountProof(ledger: Ledger, block: LedgerBlock, hash: Uint8Array, show: (account: Cell) => Cell) {
  const state = ledger.state(block);
  const reader = new MerkleReader(state);
  const found = openState(reader.root).accounts.value.get(hash);
  return {
    proof: serializeBoc([stateRootProof(block.root), reader.proof()]),
    state: found === undefined ? NOTHING : serializeBoc(show(found.account.cell)),
  };
}
