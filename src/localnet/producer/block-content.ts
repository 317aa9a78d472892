import { type BlockPosition, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { addCurrency, type CurrencyCollection, onlyGrams } from '#formats/tlb/currency.js';
import type { InMsgDescr } from '#formats/tlb/in-msg.js';
import type { OutMsgDescr } from '#formats/tlb/out-msg.js';
import { type ValueFlow, ValueFlowBalances, ValueFlowFees, valueFlowSums } from '#formats/tlb/value-flow.js';
import type { AccountsAfter } from '#localnet/producer/block-accounts.js';
import type { Collation } from '#localnet/producer/collation.js';
import { printCurrency, sameCurrency, subtractCurrency } from '#localnet/producer/currency-arithmetic.js';
import { producerErrors } from '#localnet/producer/errors.js';
import { burnedOfFees } from '#localnet/producer/masterchain/value-rules.js';

/** Values that come and go otherwise than with messages. */
export interface BlockValues {
  readonly created: CurrencyCollection;
  readonly minted: CurrencyCollection;
  readonly recovered: CurrencyCollection;
  /** Fees that shards sent with their blocks. */
  readonly fees_imported: CurrencyCollection;
  /** What of `fees_imported` is destroyed. */
  readonly feesBurned: CurrencyCollection;
  /** What counts as imported beside messages. */
  readonly gained: CurrencyCollection;
  /** What else is destroyed. */
  readonly burned: CurrencyCollection;
}

/** What happened in a block. */
export interface BlockContent {
  readonly after: AccountsAfter;
  readonly in_msg_descr: InMsgDescr;
  readonly out_msg_descr: OutMsgDescr;
  readonly fees_collected: CurrencyCollection;
  readonly burned: CurrencyCollection;
}

/** Sums up what was gathered. */
export function blockContent({ accounts, messages, base }: Collation, values: BlockValues): BlockContent {
  const { shard, rules } = base;
  const after = accounts.finish();
  const descr = messages.finish(rules.version.version);
  const own = addCurrency(after.total_fees, onlyGrams(descr.in.extra.fees_collected));
  // Blocks of shards destroy no fees.
  const ownBurned = onlyGrams(isMasterchain(shard) ? burnedOfFees(rules.config, own.grams) : 0n);
  return {
    after,
    in_msg_descr: descr.in,
    out_msg_descr: descr.out,
    fees_collected: [
      values.created,
      subtractCurrency(values.fees_imported, values.feesBurned),
      subtractCurrency(own, ownBurned),
    ].reduce(addCurrency),
    burned: [values.feesBurned, ownBurned, values.burned].reduce(addCurrency),
  };
}

/** The value flow of a block. */
export function valueFlow(values: BlockValues, content: BlockContent, balances: ValueFlowBalances): ValueFlow {
  const { fees_imported, recovered, created, minted } = values;
  const { fees_collected, burned } = content;
  const parts = {
    balances: Lazy.ofValue(ValueFlowBalances, balances),
    fees_collected,
    fees: Lazy.ofValue(ValueFlowFees, { fees_imported, recovered, created, minted }),
  };
  if (burned.grams === 0n && burned.other.isEmpty) return { kind: 'value_flow', ...parts };
  return { kind: 'value_flow_v2', ...parts, burned };
}

/** @throws producer/value-flow when not as much goes out as comes in */
export function checkFlow(flow: ValueFlow, block: BlockPosition): void {
  const sums = valueFlowSums(flow);
  if (sameCurrency(sums.in, sums.out)) return;
  throw producerErrors['value-flow']({
    block: printPosition(block),
    in: printCurrency(sums.in),
    out: printCurrency(sums.out),
  });
}
