import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { type ProvenAccountState, verifyAccountState, verifyPrunedAccountState } from '#formats/proofs/account.js';
import type { TransactionRef } from '#formats/proofs/account-transactions.js';
import { type BlockId, isMasterchain } from '#formats/proofs/block-id.js';
import { inPart } from '#formats/proofs/proof-part.js';
import type { LiteServerAccountState } from '#formats/tl/generated/lite-server.js';
import {
  LiteServerGetAccountState,
  LiteServerGetAccountStatePrunned,
} from '#formats/tl/generated/lite-server-functions.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import type { Call } from '#services/chain/call.js';
import { needOfState } from '#services/chain/need.js';
import type { ProvenBlocks } from '#services/chain/proven-blocks.js';
import type { Answered, ReadAt } from '#services/chain/read-options.js';
import { expectBlock, fromTlBlockId, toTlBlockId } from '#services/chain/tl-block-id.js';

/** An account after a block. */
export interface AccountStateRead extends Answered<LiteServerAccountState> {
  /** The newest block of the account's shard; `null` when there is no such workchain. */
  readonly shard_block: BlockId | null;
  /** When the shard block was made: the time that the account "sees". */
  readonly shard_utime: number | null;
  /** lt of the state after the shard block. */
  readonly shard_lt: bigint | null;
  /** The `Account` cell; `null` when there is no such account. Of a pruned read only the visible part. */
  readonly cell: Cell | null;
  readonly account: Account | null;
  /** Its last transaction, as the shard's state tells it (the account itself keeps the END of that one as `last_trans_lt`). */
  readonly last_transaction: TransactionRef | null;
}

export interface AccountStateOptions extends ReadAt {
  /** Without code, data and libraries (their hashes stay): a small answer. */
  readonly pruned?: boolean;
}

export interface AccountStatesModules {
  readonly blockIds: BlockIds;
  readonly proven: ProvenBlocks;
}

/** Reads of account states. */
export class AccountStates {
  readonly #modules: AccountStatesModules;

  constructor(modules: AccountStatesModules) {
    this.#modules = modules;
  }

  async account(call: Call, address: Address, { at, pruned = false }: AccountStateOptions): Promise<AccountStateRead> {
    const { blockIds, proven } = this.#modules;
    const block = await blockIds.resolveBlock(call, at);
    const { id } = block;
    const { value, answer } = await call.ask({
      fn: pruned ? LiteServerGetAccountStatePrunned : LiteServerGetAccountState,
      query: { id: toTlBlockId(id), account: { workchain: address.workchain, id: address.hash } },
      need: needOfState(block),
      immutable: true,
      verify: (found) => {
        expectBlock(found.id, id);
        const { shard_proof, proof, state } = found;
        const parts = { shard_block: fromTlBlockId(found.shardblk), shard_proof, proof, state };
        return decoded((pruned ? verifyPrunedAccountState : verifyAccountState)(id, address, parts));
      },
    });
    const { shard_block, shard_utime } = value;
    const mc_seqno = isMasterchain(id) ? id.seqno : block.mc_seqno;
    if (shard_block !== null)
      proven.add({ id: shard_block, gen_utime: shard_block.seqno === 0 ? null : shard_utime, mc_seqno });
    return { block: id, gen_utime: block.gen_utime, ...value, proof: call.proof(answer) };
  }
}

type AccountValue = Omit<AccountStateRead, keyof Answered<unknown>>;

/** Reads all that is promised, so that a server that left it out is found out at once. */
function decoded({ shard_state, shard_account, account: cell }: ProvenAccountState): AccountValue {
  const account = cell === null ? null : inPart('state', () => decodeCell(Account, cell));
  return {
    shard_block: shard_state?.id ?? null,
    shard_utime: shard_state?.state.gen_utime ?? null,
    shard_lt: shard_state?.state.gen_lt ?? null,
    cell,
    account,
    last_transaction: lastTransaction(shard_account),
  };
}

function lastTransaction(entry: ProvenAccountState['shard_account']): TransactionRef | null {
  if (entry === null || entry.last_trans_lt === 0n) return null;
  return { lt: entry.last_trans_lt, hash: entry.last_trans_hash };
}
