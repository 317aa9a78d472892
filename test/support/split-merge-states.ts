import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { applyMerkleUpdate, readMerkleUpdate } from '#formats/cells/merkle-update.js';
import { ShardAccounts } from '#formats/tlb/account.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { addCurrency, CurrencyCollection } from '#formats/tlb/currency.js';
import { OutMsgQueue, ProcessedInfo } from '#formats/tlb/out-msg-queue.js';
import { ShardStateUnsplit, splitStateCell } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { mergeStates, splitState } from '#localnet/producer/split-merge-states.js';
import { type BlockLink, blockLinks } from '#test/support/chain-states.js';
import { readBytes, readChain } from '#test/support/vector-files.js';

/** What came of the first blocks after splits and merges. */
export interface SplitMergeReport {
  readonly afterSplit: number;
  readonly afterMerge: number;
  /** Waiting messages in the states before. */
  readonly messages: number;
  /** `what: block`, for all that came out another way. */
  readonly differences: readonly string[];
}

/**
 * Makes the states again that the first blocks after splits and merges start from, and compares them with the states after
 * these blocks: they have no transactions, so all but sums that are known is the same.
 */
export function compareSplitMergeStates(folder: string, basechainZerostate: string): SplitMergeReport {
  const states = new Map<string, Cell>();
  const zerostate = parseBocRoot(readBytes(`${folder}/${basechainZerostate}`));
  states.set(toHex(zerostate.hash()), zerostate);
  const counts = { afterSplit: 0, afterMerge: 0, messages: 0 };
  const differences: string[] = [];
  for (const link of blockLinks(readChain(folder))) {
    if (link.id.workchain !== 0) continue;
    const roots = link.previous.map((hash) => states.get(hash)!);
    const before = link.afterMerge ? splitStateCell(roots[0]!, roots[1]!) : roots[0]!;
    const same = (what: string, made: string, found: string): void => {
      if (made !== found) differences.push(`${what}: ${link.id.shard},${link.id.seqno}`);
    };
    same('state before', toHex(before.hash()), toHex(readMerkleUpdate(link.stateUpdate).oldHash));
    const after = applyMerkleUpdate(before, link.stateUpdate);
    states.set(link.id.rootHash, after);
    if (!link.afterMerge && !link.afterSplit) continue;
    counts[link.afterMerge ? 'afterMerge' : 'afterSplit']++;
    const [first, second] = roots.map((root) => decodeCell(ShardStateUnsplit, root));
    const start = link.afterMerge ? mergeStates(first!, second!) : splitState(first!, BigInt(`0x${link.id.shard}`));
    counts.messages += start.out_msg_queue_info.value.out_queue.count();
    for (const [what, made, found] of partsOf(start, decodeCell(ShardStateUnsplit, after), link))
      same(what, made, found);
  }
  return { ...counts, differences };
}

type Part = readonly [what: string, made: string, found: string];

function* partsOf(start: ShardStateUnsplit, after: ShardStateUnsplit, link: BlockLink): Generator<Part> {
  const block = decodeCell(Block, link.root);
  const flow = block.value_flow.value;
  const hash = (cell: Cell): string => toHex(cell.hash());
  const value = (amount: CurrencyCollection): string => hash(encodeCell(CurrencyCollection, amount));
  yield ['transactions', String(block.extra.value.account_blocks.value.isEmpty), 'true'];
  yield ['accounts', hash(encodeCell(ShardAccounts, start.accounts.value)), hash(after.accounts.cell)];
  const sent = block.extra.value.out_msg_descr.value;
  const [queues, queuesAfter] = [start.out_msg_queue_info.value, after.out_msg_queue_info.value];
  let waiting = queues.out_queue;
  for (const [key] of waiting) if (sent.has(key.hash)) waiting = waiting.delete(key);
  const queue = (dictionary: OutMsgQueue): string => hash(encodeCell(OutMsgQueue, dictionary));
  yield ['out_queue', queue(waiting), queue(queuesAfter.out_queue)];
  const received = (info: ProcessedInfo): string => hash(encodeCell(ProcessedInfo, info));
  yield ['proc_info', received(queues.proc_info), received(queuesAfter.proc_info)];
  const [extra, extraAfter] = [queues.extra, queuesAfter.extra];
  yield ['dispatch_queue', String(extra?.dispatch_queue.count()), String(extraAfter?.dispatch_queue.count())];
  const size = extra?.out_queue_size ?? null;
  yield [
    'out_queue_size',
    String(size === null ? size : size - sent.count()),
    String(extraAfter?.out_queue_size ?? null),
  ];
  const [a, b] = [start.totals.value, after.totals.value];
  yield ['total_balance', value(a.total_balance), value(b.total_balance)];
  yield ['from_prev_blk', value(a.total_balance), value(flow.balances.value.from_prev_blk)];
  yield ['fees', value(addCurrency(a.total_validator_fees, flow.fees_collected)), value(b.total_validator_fees)];
  yield ['libraries', String(a.libraries.isEmpty), String(b.libraries.isEmpty)];
  yield ['overload_history', String(a.overload_history << 1n), String(b.overload_history)];
  yield ['underload_history', String((a.underload_history << 1n) | 1n), String(b.underload_history)];
  yield ['seq_no', String(start.seq_no + 1), String(after.seq_no)];
  yield ['shard', JSON.stringify(start.shard_id, String), JSON.stringify(after.shard_id, String)];
  yield ['min_ref_mc_seqno', String(start.min_ref_mc_seqno), String(after.min_ref_mc_seqno)];
  yield ['before_split', String(start.before_split), String(after.before_split)];
}
