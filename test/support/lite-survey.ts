import type { Address } from '#formats/address/address.js';
import { iterateEntries } from '#formats/cells/dict-read.js';
import { type BlockId, isMasterchain, printBlockId, sameBlock } from '#formats/proofs/block-id.js';
import { verifyTwoRootState } from '#formats/proofs/shard-state.js';
import { listTransactions } from '#formats/proofs/transactions.js';
import { blockIdToTl, signedShard } from '#formats/tl/block-id.js';
import { decodeOne, encodeBoxed, type TlFunction, type TlValue } from '#formats/tl/constructor.js';
import {
  LiteServerDispatchQueueInfo,
  LiteServerDispatchQueueMessages,
  LiteServerGetAccountState,
  LiteServerGetAccountStatePrunned,
  LiteServerGetAllShardsInfo,
  LiteServerGetBlock,
  LiteServerGetBlockHeader,
  LiteServerGetBlockOutMsgQueueSize,
  LiteServerGetBlockProof,
  LiteServerGetConfigAll,
  LiteServerGetConfigParams,
  LiteServerGetDispatchQueueInfo,
  LiteServerGetDispatchQueueMessages,
  LiteServerGetLibrariesWithProof,
  LiteServerGetOneTransaction,
  LiteServerGetShardBlockProof,
  LiteServerGetShardInfo,
  LiteServerGetTransactions,
  LiteServerGetValidatorStats,
  LiteServerListBlockTransactions,
  LiteServerListBlockTransactionsExt,
  LiteServerLookupBlock,
  LiteServerLookupBlockWithProof,
} from '#formats/tl/lite-api.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import type { LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import type { AnsweredQuestion } from '#test/support/lite-comparison.js';

function question<F extends TlFunction>(called: F, desc: string, args: TlValue<F>): AnsweredQuestion {
  return { n: 0, function: called.name, desc, request: encodeBoxed(called as TlFunction, args as never) };
}

/** Questions with provable answers about a masterchain block, its shards, their blocks, transactions and accounts. */
export function* questionsAbout(ledger: ReplayLedger, seqno: number): Generator<AnsweredQuestion> {
  const block = masterchainBlock(ledger, seqno);
  const head = ledger.head!;
  yield* aboutMasterchain(ledger, block, head);
  for (const shardBlock of committedBlocks(ledger, block)) {
    const id = blockIdToTl(shardBlock.id);
    const name = printBlockId(shardBlock.id);
    yield question(LiteServerGetShardBlockProof, name, { id });
    yield* lookups(shardBlock, block, head);
    yield* aboutBlock(ledger, shardBlock);
    yield* aboutAccounts(ledger, shardBlock, block);
  }
  yield* aboutBlock(ledger, block);
  yield* aboutAccounts(ledger, block, block);
}

export function masterchainBlock(ledger: ReplayLedger, seqno: number): LedgerBlock {
  return ledger.lookup({ workchain: -1, shard: 1n << 63n, by: 'seqno', seqno })!;
}

/** The shard blocks that a masterchain block is the first to commit. */
export function committedBlocks(ledger: ReplayLedger, { id, root, mc_seqno }: LedgerBlock): LedgerBlock[] {
  const found = new Map<string, LedgerBlock>();
  const tops = [...shardDescrs(decodeCell(Block, root).extra.value.custom!.value.shard_hashes)];
  const pending: BlockId[] = tops.map(({ workchain, shard, descr }) => {
    return { workchain, shard, seqno: descr.seq_no, root_hash: descr.root_hash, file_hash: descr.file_hash };
  });
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const block = next.seqno === 0 ? null : ledger.block(next);
    if (block === null || block.mc_seqno !== mc_seqno || sameBlock(block.id, id)) continue;
    found.set(toHex(block.id.root_hash), block);
    pending.push(...ledger.previous(block));
  }
  return [...found.values()];
}

function* aboutMasterchain(ledger: ReplayLedger, block: LedgerBlock, head: LedgerBlock): Generator<AnsweredQuestion> {
  const id = blockIdToTl(block.id);
  const name = `mc ${block.id.seqno}`;
  yield question(LiteServerGetAllShardsInfo, name, { id });
  const tops = [...shardDescrs(decodeCell(Block, block.root).extra.value.custom!.value.shard_hashes)];
  for (const { workchain, shard } of [
    ...tops,
    { workchain: 0, shard: 1n << 63n },
    { workchain: 7, shard: 1n << 63n },
  ]) {
    for (const exact of [true, false]) {
      yield question(LiteServerGetShardInfo, `${name} ${workchain}:${shard}`, {
        id,
        workchain,
        shard: signedShard(shard),
        exact,
      });
    }
  }
  for (const mode of ledger.keyBlockUpTo(block.id.seqno).seqno > 0 ? [0, 0x3ff, 0x8000] : [0, 0x3ff]) {
    yield question(LiteServerGetConfigAll, `${name} mode ${mode}`, { mode, id });
    yield question(LiteServerGetConfigParams, `${name} mode ${mode}`, { mode, id, param_list: [0, 12, 34, 99, -1] });
  }
  const { libraries } = decodeCell(ShardStateUnsplit, ledger.state(block)).totals.value;
  const library_list = [new Uint8Array(32), ...[...libraries].slice(0, 3).map(([hash]) => hash)];
  for (const mode of [0, 1, 2]) {
    yield question(LiteServerGetLibrariesWithProof, `${name} mode ${mode}`, { id, mode, library_list });
  }
  const none = { start_after: null, modified_after: null };
  yield question(LiteServerGetValidatorStats, name, { mode: 0, id, limit: 1000, ...none });
  const zerostate = blockIdToTl(ledger.zerostate);
  const middle = blockIdToTl(masterchainBlock(ledger, (block.id.seqno + 1) >> 1).id);
  const last = blockIdToTl(head.id);
  for (const mode of [1, 0x1001]) {
    for (const [known_block, target_block] of [
      [zerostate, id],
      [id, zerostate],
      [id, middle],
      [middle, id],
      [id, last],
      [last, id],
    ] as const) {
      const desc = `${known_block.seqno} -> ${target_block.seqno} mode ${mode}`;
      yield question(LiteServerGetBlockProof, desc, { mode, known_block, target_block });
    }
  }
  yield* lookups(block, block, head);
}

function* lookups(block: LedgerBlock, committing: LedgerBlock, head: LedgerBlock): Generator<AnsweredQuestion> {
  const { workchain, shard, seqno } = blockIdToTl(block.id);
  const id = { workchain, shard, seqno };
  const lt = BigInt.asIntN(64, block.end_lt);
  const queries = [
    { mode: 1, id, lt: null, utime: null },
    { mode: 2, id, lt, utime: null },
    { mode: 4, id, lt: null, utime: block.gen_utime },
  ];
  for (const query of queries) {
    const desc = `${printBlockId(block.id)} mode ${query.mode}`;
    yield question(LiteServerLookupBlock, desc, { ...query, mode: query.mode | 0xff0 });
    // Before the first block there is a zerostate, of which there is no header to prove.
    if (seqno === 1 && query.mode !== 1) continue;
    for (const known of [committing, head]) {
      yield question(LiteServerLookupBlockWithProof, desc, { ...query, mc_block_id: blockIdToTl(known.id) });
    }
  }
}

function* aboutBlock(ledger: ReplayLedger, block: LedgerBlock): Generator<AnsweredQuestion> {
  const id = blockIdToTl(block.id);
  const name = printBlockId(block.id);
  yield question(LiteServerGetBlock, name, { id });
  for (const mode of [0, 0xff]) yield question(LiteServerGetBlockHeader, `${name} mode ${mode}`, { id, mode });
  // Since capStoreOutMsgQueueSize.
  const { extra } = decodeCell(ShardStateUnsplit, ledger.state(block)).out_msg_queue_info.value;
  if (extra !== null && extra.out_queue_size !== null) {
    yield question(LiteServerGetBlockOutMsgQueueSize, name, { mode: 1, id, want_proof: true });
  }
  yield question(LiteServerGetDispatchQueueInfo, name, {
    mode: 1,
    id,
    after_addr: null,
    max_accounts: 64,
    want_proof: true,
  });
  yield question(LiteServerGetDispatchQueueMessages, name, {
    mode: 1,
    id,
    addr: new Uint8Array(32),
    after_lt: 0n,
    max_messages: 64,
    want_proof: true,
    one_account: false,
    messages_boc: false,
  });
  const listed = [...listTransactions(decodeCell(Block, block.root), { reverse: false, after: null })];
  const middle = listed[listed.length >> 1];
  const after = middle === undefined ? null : { account: middle.account, lt: BigInt.asIntN(64, middle.lt) };
  for (const order of [0, 64]) {
    for (const begin of after === null ? [null] : [null, after]) {
      for (const count of [3, 256]) {
        const mode = 7 | 32 | order | (begin === null ? 0 : 128);
        const rest = { id, count, after: begin, reverse_order: order !== 0, want_proof: true };
        const desc = `${name} mode ${mode} count ${count}`;
        yield question(LiteServerListBlockTransactions, desc, { ...rest, mode });
        yield question(LiteServerListBlockTransactions, desc, { ...rest, mode: mode | 256 });
        yield question(LiteServerListBlockTransactionsExt, desc, { ...rest, mode: mode | 256 });
      }
    }
  }
  for (const { account, lt, hash } of listed.slice(0, 2)) {
    const owner = { workchain: block.id.workchain, id: account };
    yield question(LiteServerGetOneTransaction, name, { id, account: owner, lt: BigInt.asIntN(64, lt) });
    yield question(LiteServerGetOneTransaction, `${name} absent`, {
      id,
      account: owner,
      lt: BigInt.asIntN(64, lt + 999n),
    });
    yield question(LiteServerGetTransactions, name, { count: 16, account: owner, lt: BigInt.asIntN(64, lt), hash });
  }
}

/** Accounts that are there, and ones that are not, by the masterchain block and by their own. */
function* aboutAccounts(
  ledger: ReplayLedger,
  block: LedgerBlock,
  committing: LedgerBlock,
): Generator<AnsweredQuestion> {
  const { accounts } = decodeCell(ShardStateUnsplit, ledger.state(block));
  const ids: Uint8Array[] = [];
  for (const [key] of iterateEntries(accounts.value.root, 256)) if (ids.push(key) === 2) break;
  if (ids[0] !== undefined) ids.push(Uint8Array.from(ids[0], (byte, i) => (i === 31 ? byte ^ 1 : byte)));
  for (const account of ids) {
    const args = { account: { workchain: block.id.workchain, id: account } };
    for (const { id } of isMasterchain(block.id) ? [block] : [block, committing]) {
      yield question(LiteServerGetAccountState, printBlockId(id), { id: blockIdToTl(id), ...args });
      yield question(LiteServerGetAccountStatePrunned, printBlockId(id), { id: blockIdToTl(id), ...args });
    }
  }
  const id = blockIdToTl(committing.id);
  const nowhere: Pick<Address, 'workchain'> & { readonly id: Uint8Array } = { workchain: 5, id: new Uint8Array(32) };
  yield question(LiteServerGetAccountState, 'no such workchain', { id, account: nowhere });
}

/** What a proof shows of the deferred messages of all accounts, as text; the answer must list just these. */
export function checkDispatchQueue({ function: name }: AnsweredQuestion, answer: Uint8Array, block: BlockId): string {
  const info = name === LiteServerGetDispatchQueueInfo.name;
  const { proof, ...stated } = info
    ? decodeOne(LiteServerDispatchQueueInfo, answer)
    : decodeOne(LiteServerDispatchQueueMessages, answer);
  const { state } = verifyTwoRootState('proof', block, proof!);
  const queue = state.out_msg_queue_info.value.extra?.dispatch_queue;
  const proven: string[] = [];
  // A list that breaks off proves only what is in it.
  const pruned = stated.complete ? 'throw' : 'skip';
  for (const [account, { messages, count }] of queue?.entries({ pruned }) ?? []) {
    const lts = [...messages.entries({ pruned: info ? 'skip' : pruned })].map(([lt]) => lt);
    if (info) proven.push(`${toHex(account)} ${count} ${lts[0]} ${lts.at(-1)}`);
    else for (const lt of lts) proven.push(`${toHex(account)} ${lt}`);
  }
  const listed =
    'account_dispatch_queues' in stated
      ? stated.account_dispatch_queues.map((each) => `${toHex(each.addr)} ${each.size} ${each.min_lt} ${each.max_lt}`)
      : stated.messages.map((each) => `${toHex(each.addr)} ${each.lt}`);
  if (!stated.complete) proven.length = Math.min(proven.length, listed.length);
  return listed.join() === proven.join() ? `${listed.length} listed` : `refused: ${listed} is not ${proven}`;
}
