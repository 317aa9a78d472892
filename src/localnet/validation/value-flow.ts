import { Address } from '#formats/address/address.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { type ValueFlowBalances, type ValueFlowFees, valueFlowSums } from '#formats/tlb/block.js';
import { MASTERCHAIN, shardPrefixLength } from '#formats/tlb/block-id.js';
import type { InMsg } from '#formats/tlb/block-messages.js';
import type { Lazy } from '#formats/tlb/codec/codec.js';
import {
  addCurrency,
  type CurrencyCollection,
  ExtraCurrencyCollection,
  NO_CURRENCY,
  onlyGrams,
} from '#formats/tlb/currency.js';
import { messageBody, messageInit } from '#formats/tlb/message.js';
import { toHex } from '#kernel/bytes.js';
import type { BlockContext } from '#localnet/validation/block-context.js';
import { prefixOf, samePrefix } from '#localnet/validation/routing.js';
import type { MessageBook, OutsideValue } from '#localnet/validation/transaction-messages.js';

/** Nanotons: smaller amounts are left for a later block. */
const LEAST_RECOVERED = 1_000_000_000n;

/** The decoded parts of a value flow. */
interface Flow extends ValueFlowBalances, ValueFlowFees {
  readonly fees_collected: CurrencyCollection;
  readonly burned: CurrencyCollection;
}

/**
 * Recomputes all parts of the value flow from states, messages, transactions and configuration.
 *
 * @param outside value that accounts gained or lost by other means than messages and fees
 * @throws validation/broken-rule
 */
export function checkValueFlow(context: BlockContext, outside: OutsideValue): void {
  const { rules, id, block, extra, mcExtra, before, after, reference } = context;
  const { config } = reference;
  const { value_flow } = block;
  const written = value_flow.value;
  const flow: Flow = {
    ...written.balances.value,
    ...written.fees.value,
    fees_collected: written.fees_collected,
    burned: written.kind === 'value_flow_v2' ? written.burned : NO_CURRENCY,
  };
  const equal = (part: keyof Flow, expected: CurrencyCollection) =>
    rules.equal('value-flow', expected, flow[part], part);
  const masterchain = isMasterchain(id);
  const imported = extra.in_msg_descr.value.extra;
  equal('from_prev_blk', before.accounts.extra.balance);
  equal('to_next_blk', after.accounts.value.extra.balance);
  equal('exported', extra.out_msg_descr.value.extra);

  const fees = mcExtra?.shard_fees.extra ?? { fees: NO_CURRENCY, create: NO_CURRENCY };
  equal('fees_imported', fees.fees);
  const { masterchain: own, basechain } = config.blockFees;
  equal(
    'created',
    onlyGrams(masterchain ? own : id.workchain === 0 ? basechain >> BigInt(shardPrefixLength(id.shard)) : 0n),
  );
  equal('minted', mintedIn(context));

  const collected = addCurrency(onlyGrams(imported.fees_collected), extra.account_blocks.value.extra);
  const burnedHere = masterchain ? burnedPart(context, collected.grams) : 0n;
  const burnedOfShards = masterchain ? burnedPart(context, fees.fees.grams - fees.create.grams) : 0n;
  const burned = burnedHere + burnedOfShards;
  const due = [before.total_validator_fees, flow.created, flow.fees_imported].reduce(addCurrency);
  equal('recovered', masterchain ? recoverable(context, due, burnedOfShards) : NO_CURRENCY);
  const all = [collected, flow.fees_imported, flow.created].reduce(addCurrency);
  rules.equal('value-flow', all, addCurrency(flow.fees_collected, onlyGrams(burned)), 'fees_collected');
  equal('imported', addCurrency(imported.value_imported, outside.gained));
  equal('burned', addCurrency(outside.lost, onlyGrams(burned)));
  const sums = valueFlowSums(written);
  rules.equal('value-flow', sums.in, sums.out, 'sums');
  checkTotals(context, flow);
}

/** The fees that are sent to the fee collector: all known so far, unless the amount is too small. */
function recoverable({ reference }: BlockContext, due: CurrencyCollection, burned: bigint): CurrencyCollection {
  const grams = due.grams - burned;
  return grams < LEAST_RECOVERED || reference.config.feeCollector === undefined ? NO_CURRENCY : { ...due, grams };
}

/** The burned part of fees. */
function burnedPart({ reference }: BlockContext, fees: bigint): bigint {
  const { burning } = reference.config;
  return burning === undefined ? 0n : (fees * BigInt(burning.fee_burn_num)) / BigInt(burning.fee_burn_denom);
}

/** The missing amounts of extra currencies. */
function mintedIn({ mcExtra, reference }: BlockContext): CurrencyCollection {
  const { toMint } = reference.config;
  if (mcExtra === null || toMint === undefined) return NO_CURRENCY;
  const { other } = reference.extra.global_balance;
  const missing: [number, bigint][] = [];
  for (const [currency, wanted] of toMint) {
    const amount = wanted - (other.get(currency) ?? 0n);
    if (amount > 0n && currency !== 0) missing.push([currency, amount]);
  }
  return missing.length === 0 ? NO_CURRENCY : { grams: 0n, other: ExtraCurrencyCollection.of(missing) };
}

/** Checks the sums in the state. */
function checkTotals({ rules, after, before }: BlockContext, flow: Flow): void {
  const { total_balance, total_validator_fees } = after.totals.value;
  rules.equal('total-balance', flow.to_next_blk, total_balance);
  const had = addCurrency(before.total_validator_fees, flow.fees_collected);
  rules.equal('validator-fees', had, addCurrency(total_validator_fees, flow.recovered));
}

const NOBODY = new Uint8Array(32);

/**
 * Checks the two special messages of a masterchain block: recovered fees to the fee collector, and new extra currencies
 * to the minter.
 *
 * @throws validation/broken-rule
 */
export function checkSpecialMessages(context: BlockContext, book: MessageBook): void {
  const { block, mcExtra, reference } = context;
  if (mcExtra === null) return;
  const { recover_create_msg, mint_msg } = mcExtra.messages.value;
  const { recovered, minted } = block.value_flow.value.fees.value;
  const { config } = reference;
  checkOne(context, book, 'recover_create_msg', recover_create_msg, recovered, config.feeCollector);
  checkOne(context, book, 'mint_msg', mint_msg, minted, config.minter);
}

function checkOne(
  { rules }: BlockContext,
  book: MessageBook,
  name: string,
  message: Lazy<InMsg> | null,
  amount: CurrencyCollection,
  receiver: Uint8Array | undefined,
): void {
  const isNothing = amount.grams === 0n && amount.other.isEmpty;
  rules.equal('special-message', isNothing, message === null, name);
  if (message === null) return;
  const { value } = message;
  if (value.kind !== 'msg_import_imm') throw rules.broken('special-message', 'msg_import_imm', value.kind, name);
  const routed = book.routed(value.in_msg);
  if (routed === null) throw rules.broken('special-message', 'an internal message', 'another', name);
  const { info, envelope, hash } = routed;
  const registered = book.in.get(toHex(hash));
  rules.equal('special-message', 'msg_import_imm', registered?.kind ?? 'none', `${name} among the messages`);
  rules.equal('special-message', amount, info.value, `${name}: value`);
  const fees = envelope.fwd_fee_remaining + info.fwd_fee + info.extra_flags;
  rules.equal('special-message', NO_CURRENCY.grams, fees, `${name}: fees`);
  const { src, dest } = info;
  const from = src instanceof Address && src.workchain === MASTERCHAIN ? src.hash : null;
  rules.equal('special-message', NOBODY, from, `${name}: src`);
  const to = dest instanceof Address && dest.workchain === MASTERCHAIN ? dest.hash : null;
  rules.equal('special-message', receiver ?? null, to, `${name}: dest`);
  const arrived = samePrefix(routed.cur, prefixOf(dest)) && samePrefix(routed.next, prefixOf(dest));
  rules.require(arrived, 'special-message', 'at its receiver', 'on its way', name);
  const { msg } = envelope;
  const empty = messageInit(msg.value) === null && msg.value.body.kind === 'left' && messageBody(msg.value).isEmpty;
  rules.require(empty, 'special-message', 'no body', 'one', name);
}
