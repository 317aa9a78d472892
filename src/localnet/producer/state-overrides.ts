import { Address } from '#formats/address/address.js';
import { MASTERCHAIN_SHARD, type Shard } from '#formats/proofs/block-id.js';
import { ShardAccount } from '#formats/tlb/account.js';
import { MASTERCHAIN, WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { overriddenAccount } from '#localnet/producer/block-accounts.js';
import { envelope } from '#localnet/producer/block-messages.js';
import type { StateOverride } from '#localnet/producer/block-request.js';
import type { Collation } from '#localnet/producer/collation.js';
import { producerErrors } from '#localnet/producer/errors.js';
import { ARRIVED, contains, type RoutingPrefix, routingPrefix } from '#localnet/producer/routing.js';

/** An intervention that could not be made. */
export interface FailedOverride {
  readonly intervention: StateOverride;
  readonly problem: string;
}

/** Where an intervention takes place: libraries are the masterchain's. @throws what decoding the message throws */
function placeOf(intervention: StateOverride): RoutingPrefix {
  switch (intervention.kind) {
    case 'library':
      return { workchain: MASTERCHAIN, prefix: WHOLE_WORKCHAIN };
    case 'account':
    case 'import':
      return routingPrefix(intervention.address);
    case 'message':
      return routingPrefix(receiverOf(decodeCell(Message, intervention.message)));
  }
}

/**
 * Makes interventions in a block, in their order; libraries are left to the masterchain's state.
 * @returns those that could not be made
 */
export async function applyOverrides(
  collation: Collation,
  interventions: readonly StateOverride[],
): Promise<FailedOverride[]> {
  const failed: FailedOverride[] = [];
  for (const intervention of interventions) {
    const problem = await applyOverride(collation, intervention).catch((error: Error) => error.message);
    if (problem !== null) failed.push({ intervention, problem });
  }
  return failed;
}

/** @returns what went wrong */
async function applyOverride(collation: Collation, intervention: StateOverride): Promise<string | null> {
  switch (intervention.kind) {
    case 'library':
      return null;
    case 'message':
      return injectMessage(collation, intervention);
    case 'account':
      return overrideState(collation, intervention);
    case 'import':
      return importAccount(collation, intervention);
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
  // With another lt each time, equal messages are still different ones.
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

/** Interventions by the shard in whose block they are made. */
export interface PlacedOverrides {
  of(shard: Shard): readonly StateOverride[];
  /** Those for no shard. */
  readonly failed: readonly FailedOverride[];
}

/** Sorts interventions by where they take place. @param shards that get a block, beside the masterchain */
export function placeOverrides(interventions: readonly StateOverride[], shards: readonly Shard[]): PlacedOverrides {
  const placed: { readonly intervention: StateOverride; readonly place: RoutingPrefix }[] = [];
  const failed: FailedOverride[] = [];
  for (const intervention of interventions) {
    try {
      const place = placeOf(intervention);
      if ([MASTERCHAIN_SHARD, ...shards].some((shard) => contains(shard, place))) placed.push({ intervention, place });
      else failed.push({ intervention, problem: `there is no shard of workchain ${place.workchain} for it` });
    } catch (error) {
      failed.push({ intervention, problem: (error as Error).message });
    }
  }
  return {
    of: (shard) => placed.filter(({ place }) => contains(shard, place)).map(({ intervention }) => intervention),
    failed,
  };
}
