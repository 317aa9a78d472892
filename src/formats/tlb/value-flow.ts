import type { ValueOf } from '#formats/tlb/codec/codec.js';
import { ref } from '#formats/tlb/codec/composites.js';
import { record, variant } from '#formats/tlb/codec/record.js';
import { union } from '#formats/tlb/codec/union.js';
import { addCurrency, CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';

/** The first anonymous cell of a value flow, under a name of its own, since proofs may leave it out. */
export const ValueFlowBalances = record(
  `_ from_prev_blk:CurrencyCollection to_next_blk:CurrencyCollection imported:CurrencyCollection
    exported:CurrencyCollection = ValueFlowBalances;`,
  {
    from_prev_blk: CurrencyCollection,
    to_next_blk: CurrencyCollection,
    imported: CurrencyCollection,
    exported: CurrencyCollection,
  },
);
export type ValueFlowBalances = ValueOf<typeof ValueFlowBalances>;

/** The second anonymous cell of a value flow. */
export const ValueFlowFees = record(
  `_ fees_imported:CurrencyCollection recovered:CurrencyCollection created:CurrencyCollection
    minted:CurrencyCollection = ValueFlowFees;`,
  {
    fees_imported: CurrencyCollection,
    recovered: CurrencyCollection,
    created: CurrencyCollection,
    minted: CurrencyCollection,
  },
);
export type ValueFlowFees = ValueOf<typeof ValueFlowFees>;

/**
 * Where the value in a block came from and went to: what comes in equals what goes out, see {@link valueFlowSums}.
 * Of the schema's `^[ … ]`, the first is here the field `balances`, the second `fees`.
 */
export const ValueFlow = union('ValueFlow', [
  variant(
    'value_flow#b8e48dfb balances:^ValueFlowBalances fees_collected:CurrencyCollection fees:^ValueFlowFees = ValueFlow;',
    { balances: ref(ValueFlowBalances), fees_collected: CurrencyCollection, fees: ref(ValueFlowFees) },
  ),
  variant(
    `value_flow_v2#3ebf98b7 balances:^ValueFlowBalances fees_collected:CurrencyCollection burned:CurrencyCollection
      fees:^ValueFlowFees = ValueFlow;`,
    {
      balances: ref(ValueFlowBalances),
      fees_collected: CurrencyCollection,
      burned: CurrencyCollection,
      fees: ref(ValueFlowFees),
    },
  ),
]);
export type ValueFlow = ValueOf<typeof ValueFlow>;

/** What a block takes in and gives out; in a valid block the two are the same. */
export function valueFlowSums(flow: ValueFlow): { readonly in: CurrencyCollection; readonly out: CurrencyCollection } {
  const balances = flow.balances.value;
  const fees = flow.fees.value;
  const burned = flow.kind === 'value_flow_v2' ? flow.burned : NO_CURRENCY;
  return {
    in: [
      balances.from_prev_blk,
      balances.imported,
      fees.fees_imported,
      fees.created,
      fees.minted,
      fees.recovered,
    ].reduce(addCurrency),
    out: [balances.to_next_blk, balances.exported, flow.fees_collected, burned].reduce(addCurrency),
  };
}
