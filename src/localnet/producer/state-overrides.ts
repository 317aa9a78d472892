import { Address } from '#formats/address/address.js';
import { MASTERCHAIN_SHARD, type Shard } from '#formats/proofs/block-id.js';
import { Account, ShardAccount } from '#formats/tlb/account.js';
import { MASTERCHAIN, WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { type CurrencyCollection, ExtraCurrencyCollection, NO_CURRENCY, onlyGrams } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { overriddenAccount, restoredAccount } from '#localnet/producer/block-accounts.js';
import { envelope } from '#localnet/producer/block-messages.js';
import type { StateOverride } from '#localnet/producer/block-request.js';
import type { Collation } from '#localnet/producer/collation.js';
import { producerErrors } from '#localnet/producer/errors.js';
import { ARRIVED, contains, type RoutingPrefix, routingPrefix } from '#localnet/producer/routing.js';

/** A state override that failed. */
export interface FailedOverride {
  readonly override: StateOverride;
  readonly problem: string;
}

/** The place of an override; libraries belong to the masterchain. @throws what decoding the message throws */
function placeOf(override: StateOverride): RoutingPrefix {
  switch (override.kind) {
    case 'library':
      return { workchain: MASTERCHAIN, prefix: WHOLE_WORKCHAIN };
    case 'account':
    case 'restore':
    case 'import':
      return routingPrefix(override.address);
    case 'message':
      return routingPrefix(receiverOf(decodeCell(Message, override.message)));
  }
}

/**
 * Applies overrides to a block, in order; libraries are left to the masterchain state.
 * @returns those that failed
 */
export async function applyOverrides(
  collation: Collation,
  overrides: readonly StateOverride[],
): Promise<FailedOverride[]> {
  const failed: FailedOverride[] = [];
  for (const override of overrides) {
    const problem = await applyOverride(collation, override).catch((error: Error) => error.message);
    if (problem !== null) failed.push({ override, problem });
  }
  return failed;
}

/** @returns the problem; null on success */
async function applyOverride(collation: Collation, override: StateOverride): Promise<string | null> {
  switch (override.kind) {
    case 'library':
      return null;
    case 'message':
      return injectMessage(collation, override);
    case 'account':
      return overrideState(collation, override);
    case 'restore':
      return restoreAccount(collation, override);
    case 'import':
      return importAccount(collation, override);
  }
}

async function injectMessage(
  collation: Collation,
  { message }: Extract<StateOverride, { kind: 'message' }>,
): Promise<string | null> {
  const { runner, messages } = collation;
  const value = decodeCell(Message, message);
  const dest = receiverOf(value);
  if (value.info.kind !== 'int_msg_info') return 'it is no message between accounts';
  // A new lt makes equal messages distinct.
  const info = { ...value.info, created_lt: runner.end_lt, created_at: collation.base.gen_utime };
  const cell = encodeCell(Message, { ...value, info });
  const account = await collation.receiver.open(dest.hash);
  const result = await runner.run(account, { message: cell }, collation.base.start_lt + 1n);
  if (!('cell' in result)) return result.problem;
  messages.importFrom(envelope(cell, { current: ARRIVED, next: ARRIVED }, info.fwd_fee), result);
  collation.sent(account, result);
  return null;
}

async function overrideState(
  collation: Collation,
  { address, change }: Extract<StateOverride, { kind: 'account' }>,
): Promise<string | null> {
  const { runner, base } = collation;
  const account = await collation.receiver.open(address.hash);
  const before = decodeCell(ShardAccount, account.current);
  const lt = runner.ltAfter(account, base.start_lt + 1n);
  const { transaction, after, gained } = overriddenAccount(before, change, { address, lt, now: base.gen_utime });
  runner.add(account, transaction, after);
  collation.sent(account, transaction);
  if (gained > 0n) collation.receiver.gain(onlyGrams(gained));
  else collation.receiver.burn(onlyGrams(-gained));
  return null;
}

async function restoreAccount(
  collation: Collation,
  { address, account: former }: Extract<StateOverride, { kind: 'restore' }>,
): Promise<string | null> {
  const { runner, base } = collation;
  const account = collation.accounts.get(address.hash);
  const before = decodeCell(ShardAccount, account.current);
  const lt = runner.ltAfter(account, base.start_lt + 1n);
  const { transaction, after } = restoredAccount(before, former, { address, lt, now: base.gen_utime });
  const { gained, burned } = balanceChange(balanceOf(before.account.value), balanceOf(decodeCell(Account, former)));
  runner.add(account, transaction, after);
  collation.sent(account, transaction);
  collation.receiver.gain(gained);
  collation.receiver.burn(burned);
  return null;
}

function balanceOf(account: Account): CurrencyCollection {
  return account.kind === 'account' ? account.storage.balance : NO_CURRENCY;
}

/** What has to be added and taken away, currency by currency. */
function balanceChange(
  from: CurrencyCollection,
  to: CurrencyCollection,
): { readonly gained: CurrencyCollection; readonly burned: CurrencyCollection } {
  const more = (a: CurrencyCollection, b: CurrencyCollection): CurrencyCollection => ({
    grams: a.grams > b.grams ? a.grams - b.grams : 0n,
    other: ExtraCurrencyCollection.of(
      [...a.other].flatMap(([id, amount]) => {
        const rest = amount - (b.other.get(id) ?? 0n);
        return rest > 0n ? [[id, rest] as const] : [];
      }),
    ),
  });
  return { gained: more(to, from), burned: more(from, to) };
}

async function importAccount(
  collation: Collation,
  { address, shard_account }: Extract<StateOverride, { kind: 'import' }>,
): Promise<string | null> {
  const account = collation.accounts.get(address.hash);
  if (account.account.kind !== 'account_none') return `the chain has the account ${address.toRaw()}`;
  return collation.receiver.import(account, shard_account);
}

/** @throws producer/no-receiver */
function receiverOf({ info }: Message): Address {
  if (info.kind === 'int_msg_info' && info.dest instanceof Address) return info.dest;
  throw producerErrors['no-receiver']({ found: info.kind });
}

/** Overrides by the shard whose block applies them. */
export interface PlacedOverrides {
  of(shard: Shard): readonly StateOverride[];
  /** Those that belong to no shard. */
  readonly failed: readonly FailedOverride[];
}

/** Assigns overrides to shards. @param shards that get a block, besides the masterchain */
export function placeOverrides(overrides: readonly StateOverride[], shards: readonly Shard[]): PlacedOverrides {
  const placed: { readonly override: StateOverride; readonly place: RoutingPrefix }[] = [];
  const failed: FailedOverride[] = [];
  for (const override of overrides) {
    try {
      const place = placeOf(override);
      if ([MASTERCHAIN_SHARD, ...shards].some((shard) => contains(shard, place))) placed.push({ override, place });
      else failed.push({ override, problem: `there is no shard of workchain ${place.workchain} for it` });
    } catch (error) {
      failed.push({ override, problem: (error as Error).message });
    }
  }
  return {
    of: (shard) => placed.filter(({ place }) => contains(shard, place)).map(({ override }) => override),
    failed,
  };
}
