import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import { createMerkleUpdate } from '#formats/cells/merkle-update.js';
import { ShardAccounts } from '#formats/tlb/account.js';
import {
  Block,
  BlockExtra,
  BlockInfo,
  McBlockExtra,
  McBlockMessages,
  ValueFlow,
  ValueFlowBalances,
  ValueFlowFees,
} from '#formats/tlb/block.js';
import { InMsgDescr, OutMsgDescr } from '#formats/tlb/block-messages.js';
import { type Codec, decodeCell, encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { OutMsgQueueInfo } from '#formats/tlb/out-msg-queue.js';
import { McStateExtra, McStateInfo, ShardStateTotals, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { type AccountBlock, ShardAccountBlocks, Transaction } from '#formats/tlb/transaction.js';
import type { NewBlock } from '#localnet/ledger/block-bundle.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * A block taken apart, and the state after it, each part to be changed at will. Put together again, all hashes fit, and the
 * update leads to the changed state.
 */
export interface BlockParts {
  block: Mutable<Pick<Block, 'global_id'>>;
  info: Mutable<BlockInfo>;
  flow: Mutable<ValueFlow>;
  balances: Mutable<ValueFlowBalances>;
  fees: Mutable<ValueFlowFees>;
  extra: Mutable<Pick<BlockExtra, 'rand_seed' | 'created_by'>>;
  in: InMsgDescr;
  out: OutMsgDescr;
  accountBlocks: ShardAccountBlocks;
  /** Of a masterchain block. */
  mc: Mutable<McBlockExtra> | null;
  messages: Mutable<McBlockMessages> | null;
  state: Mutable<ShardStateUnsplit>;
  accounts: ShardAccounts;
  queue: Mutable<OutMsgQueueInfo>;
  totals: Mutable<ShardStateTotals>;
  mcState: Mutable<McStateExtra> | null;
  mcInfo: Mutable<McStateInfo> | null;
  /** From where the update leads. */
  before: Cell;
}

/** Changes parts of a block. @param before the state before it */
export function alterBlock(given: NewBlock, before: Cell, change: (parts: BlockParts) => void): NewBlock {
  const parts = takeApart(given, before);
  change(parts);
  const { root, state } = putTogether(decodeCell(Block, given.root), parts);
  const bytes = serializeBoc(root, BLOCK_FILE);
  const { gen_utime, end_lt } = parts.info;
  const id = { ...given.id, root_hash: root.hash(), file_hash: sha256(bytes) };
  return { ...given, id, bytes, root, state, gen_utime, end_lt };
}

function takeApart(given: NewBlock, before: Cell): BlockParts {
  const block = decodeCell(Block, given.root);
  const state = decodeCell(ShardStateUnsplit, given.state);
  const flow = block.value_flow.value;
  const extra = block.extra.value;
  const mc = extra.custom?.value ?? null;
  const mcState = state.custom?.value ?? null;
  return {
    block: { global_id: block.global_id },
    info: { ...block.info.value },
    flow: { ...flow },
    balances: { ...flow.balances.value },
    fees: { ...flow.fees.value },
    extra: { rand_seed: extra.rand_seed, created_by: extra.created_by },
    in: extra.in_msg_descr.value,
    out: extra.out_msg_descr.value,
    accountBlocks: extra.account_blocks.value,
    mc: mc === null ? null : { ...mc },
    messages: mc === null ? null : { ...mc.messages.value },
    state: { ...state },
    accounts: state.accounts.value,
    queue: { ...state.out_msg_queue_info.value },
    totals: { ...state.totals.value },
    mcState: mcState === null ? null : { ...mcState },
    mcInfo: mcState === null ? null : { ...mcState.info.value },
    before,
  };
}

function putTogether(block: Block, parts: BlockParts): { readonly root: Cell; readonly state: Cell } {
  const { mc, messages, mcState, mcInfo, flow } = parts;
  const state = encodeCell(ShardStateUnsplit as Codec<ShardStateUnsplit>, {
    ...parts.state,
    accounts: Lazy.ofValue(ShardAccounts, parts.accounts),
    out_msg_queue_info: Lazy.ofValue(OutMsgQueueInfo, parts.queue),
    totals: Lazy.ofValue(ShardStateTotals, parts.totals),
    custom:
      mcState === null
        ? null
        : Lazy.ofValue(McStateExtra, { ...mcState, info: Lazy.ofValue(McStateInfo, mcInfo as McStateInfo) }),
  });
  const custom =
    mc === null
      ? null
      : Lazy.ofValue(McBlockExtra, { ...mc, messages: Lazy.ofValue(McBlockMessages, messages as McBlockMessages) });
  const update = block.state_update;
  const root = encodeCell(Block, {
    global_id: parts.block.global_id,
    info: Lazy.ofValue(BlockInfo, parts.info),
    value_flow: Lazy.ofValue(ValueFlow, {
      ...flow,
      balances: Lazy.ofValue(ValueFlowBalances, parts.balances),
      fees: Lazy.ofValue(ValueFlowFees, parts.fees),
    } as ValueFlow),
    state_update: Lazy.ofCell(update.codec, createMerkleUpdate(parts.before, state)),
    extra: Lazy.ofValue(BlockExtra, {
      ...parts.extra,
      in_msg_descr: Lazy.ofValue(InMsgDescr, parts.in),
      out_msg_descr: Lazy.ofValue(OutMsgDescr, parts.out),
      account_blocks: Lazy.ofValue(ShardAccountBlocks, parts.accountBlocks),
      custom,
    }),
  });
  return { root, state };
}

/** The transactions of a block, in the order of accounts and lts. */
export function transactionsOf({ accountBlocks }: BlockParts): readonly (readonly [Uint8Array, Transaction])[] {
  return [...accountBlocks].flatMap(([account, { transactions }]) =>
    [...transactions].map(([, lazy]) => [account, lazy.value] as const),
  );
}

/**
 * Puts another transaction into the place of one, and lets the account know it as its last one, if it is. Messages that
 * name it go on naming the old one.
 */
export function replaceTransaction(
  parts: BlockParts,
  account: Uint8Array,
  lt: bigint,
  change: (transaction: Transaction) => Transaction,
): void {
  const own = parts.accountBlocks.get(account)!;
  const fresh = Lazy.ofValue(Transaction, change(own.transactions.get(lt)!.value));
  const transactions = own.transactions.delete(lt).set(fresh.value.lt, fresh);
  setAccountBlock(parts, account, { ...own, transactions });
  const state = parts.accounts.get(account);
  const isLast = [...transactions].at(-1)![1] === fresh || [...transactions].at(-1)![0] === fresh.value.lt;
  if (state !== undefined && isLast)
    parts.accounts = parts.accounts.set(account, { ...state, last_trans_hash: fresh.cell.hash() });
}

export function setAccountBlock(parts: BlockParts, account: Uint8Array, block: AccountBlock): void {
  parts.accountBlocks = parts.accountBlocks.set(account, block);
}
