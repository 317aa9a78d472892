import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { type ProvenAccountState, verifyAccountState, verifyPrunedAccountState } from '#formats/proofs/account.js';
import type { TransactionRef } from '#formats/proofs/account-transactions.js';
import { type BlockId, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { inPart } from '#formats/proofs/proof-part.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerAccountState } from '#formats/tl/generated/lite-server.js';
import {
  LiteServerGetAccountState,
  LiteServerGetAccountStatePrunned,
} from '#formats/tl/generated/lite-server-functions.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { accountPrefix, shardContains } from '#formats/tlb/shard-ident.js';
import type { BlockData } from '#services/chain/block-data.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import { type Call, type Checked, isNotAvailable } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import { needOfState } from '#services/chain/need.js';
import type { ProvenBlock, ProvenBlocks } from '#services/chain/proven-blocks.js';
import type { Answered, ReadAt } from '#services/chain/read-options.js';
import type { ShardTops } from '#services/chain/shard-tops.js';
import { expectBlock, keepBlockId } from '#services/chain/tl-block-id.js';

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
  readonly shardTops: ShardTops;
  readonly blockData: BlockData;
}

/** Reads of account states. */
export class AccountStates {
  readonly #modules: AccountStatesModules;

  constructor(modules: AccountStatesModules) {
    this.#modules = modules;
  }

  async account(call: Call, address: Address, { at, pruned = false }: AccountStateOptions): Promise<AccountStateRead> {
    const block = await this.#modules.blockIds.resolveBlock(call, at);
    return this.#after(call, address, block, { pruned, immutable: true });
  }

  /** After a block that is proven already; the answer is not kept. */
  async accountAfter(call: Call, address: Address, block: ProvenBlock): Promise<AccountStateRead> {
    const { id } = block;
    if (id.seqno === 0) throw chainErrors.zerostate({ block: printPosition(id) });
    const { workchain, hash } = address;
    if (!isMasterchain(id) && !(id.workchain === workchain && shardContains(id.shard, accountPrefix(hash)))) {
      const wanted = `a masterchain block, or one of the shard of ${address.toRaw()}`;
      throw chainErrors.parameter({ name: 'block', value: printPosition(id), wanted });
    }
    return this.#after(call, address, block, { pruned: false, immutable: false });
  }

  async #after(call: Call, address: Address, block: ProvenBlock, how: How): Promise<AccountStateRead> {
    const { proven } = this.#modules;
    let found: Checked<AccountValue, LiteServerAccountState>;
    try {
      found = await this.#ask(call, address, block, how);
    } catch (error) {
      const read = isNotAvailable(error) ? await this.#inZerostate(call, address, block) : null;
      if (read === null) throw error;
      if (read.cell === null) call.tellAbsent(address);
      return read;
    }
    const { value, answer } = found;
    const { shard_block, shard_utime, cell } = value;
    if (cell === null) call.tellAbsent(address);
    const mc_seqno = isMasterchain(block.id) ? block.id.seqno : block.mc_seqno;
    if (shard_block !== null) proven.add({ id: shard_block, gen_utime: shard_utime, mc_seqno });
    return { block: block.id, gen_utime: block.gen_utime, ...value, proof: call.proof(answer) };
  }

  #ask(
    call: Call,
    address: Address,
    block: ProvenBlock,
    { pruned, immutable }: How,
  ): Promise<Checked<AccountValue, LiteServerAccountState>> {
    const { id } = block;
    return call.ask({
      fn: pruned ? LiteServerGetAccountStatePrunned : LiteServerGetAccountState,
      query: { id: blockIdToTl(id), account: { workchain: address.workchain, id: address.hash } },
      need: needOfState(block),
      immutable,
      verifiedAs: 'account',
      verify: (answer) => {
        expectBlock(answer.id, id);
        const { shard_proof, proof, state } = answer;
        const parts = { shard_block: keepBlockId(answer.shardblk), shard_proof, proof, state };
        return decoded((pruned ? verifyPrunedAccountState : verifyAccountState)(id, address, parts));
      },
    });
  }

  /** Servers have no proofs of accounts in a zerostate, which is a shard's state until its first block: it is read whole. */
  async #inZerostate(call: Call, address: Address, block: ProvenBlock): Promise<AccountStateRead | null> {
    const { shardTops, blockData } = this.#modules;
    const shard = { workchain: address.workchain, shard: accountPrefix(address.hash) };
    const top = await shardTops.topOf(call, block, shard);
    if (top === null || top.block.seqno !== 0) return null;
    const { state } = await blockData.zerostate(call, top.block);
    const shard_account = state.state.accounts.value.get(address.hash) ?? null;
    const account = shard_account?.account.cell ?? null;
    const value = decoded({ shard_state: state, shard_account, account });
    return { block: block.id, gen_utime: block.gen_utime, ...value, proof: null };
  }
}

/** How an account is asked for. */
interface How {
  readonly pruned: boolean;
  /** Whether the answer is kept. */
  readonly immutable: boolean;
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
