import { Address } from '#formats/address/address.js';
import { MASTERCHAIN_SHARD, type Shard } from '#formats/proofs/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { ShardAccount } from '#formats/tlb/shard-account.js';
import { MASTERCHAIN, WHOLE_WORKCHAIN } from '#formats/tlb/shard-ident.js';
import { envelope } from '#localnet/producer/block-messages.js';
import { changedAccount } from '#localnet/producer/changed-account.js';
import type { Collation } from '#localnet/producer/collation.js';
import { producerErrors } from '#localnet/producer/errors.js';
import type { Intervention } from '#localnet/producer/round-request.js';
import { ARRIVED, contains, type RoutingPrefix, routingPrefix } from '#localnet/producer/routing.js';

/** An intervention that could not be made. */
export interface FailedIntervention {
  readonly intervention: Intervention;
  readonly problem: string;
}

/** Where an intervention takes place: libraries are the masterchain's. @throws what decoding the message throws */
function placeOf(intervention: Intervention): RoutingPrefix {
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
export async function intervene(
  collation: Collation,
  interventions: readonly Intervention[],
): Promise<FailedIntervention[]> {
  const failed: FailedIntervention[] = [];
  for (const intervention of interventions) {
    const problem = await make(collation, intervention).catch((error: Error) => error.message);
    if (problem !== null) failed.push({ intervention, problem });
  }
  return failed;
}

/** @returns what went wrong */
async function make(collation: Collation, intervention: Intervention): Promise<string | null> {
  switch (intervention.kind) {
    case 'library':
      return null;
    case 'message':
      return sendMessage(collation, intervention);
    case 'account':
      return changeAccount(collation, intervention);
    case 'import':
      return importAccount(collation, intervention);
  }
}

async function sendMessage(
  collation: Collation,
  { message }: Extract<Intervention, { kind: 'message' }>,
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

async function changeAccount(
  collation: Collation,
  { address, change }: Extract<Intervention, { kind: 'account' }>,
): Promise<string | null> {
  const { runner, base } = collation;
  const account = await collation.receiver.open(address.hash);
  const before = decodeCell(ShardAccount, account.current);
  const lt = runner.ltAfter(account, base.start_lt + 1n);
  const { transaction, after, gained } = changedAccount(before, change, { address, lt, now: base.gen_utime });
  runner.add(account, transaction, after);
  collation.sent(account, transaction);
  if (gained > 0n) collation.receiver.gain(onlyGrams(gained));
  else collation.receiver.burn(onlyGrams(-gained));
  return null;
}

async function importAccount(
  collation: Collation,
  { address, shard_account }: Extract<Intervention, { kind: 'import' }>,
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
export interface PlacedInterventions {
  of(shard: Shard): readonly Intervention[];
  /** Those for no shard. */
  readonly failed: readonly FailedIntervention[];
}

/** Sorts interventions by where they take place. @param shards that get a block, beside the masterchain */
export function placeInterventions(
  interventions: readonly Intervention[],
  shards: readonly Shard[],
): PlacedInterventions {
  const placed: { readonly intervention: Intervention; readonly place: RoutingPrefix }[] = [];
  const failed: FailedIntervention[] = [];
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
