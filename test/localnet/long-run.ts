import type { Emulation } from '#drivers/tvm/transaction-runner.js';
import { Builder } from '#formats/cells/builder.js';
import { type BlockId, printShard, type Shard, sameBlock } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { shardParent, shardPrefixLength, shardSibling } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import type { ChainState, ChainTip, NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import type { Genesis } from '#localnet/ledger/genesis.js';
import { changeConfig } from '#localnet/node/config-change.js';
import { BlockProducer } from '#localnet/producer/block-producer.js';
import type { BlockRequest, PendingExternalIn, StateOverride } from '#localnet/producer/block-request.js';
import { checkWholeState } from '#localnet/validation/block-context.js';
import { BlockValidator } from '#localnet/validation/block-validator.js';
import { RuleCheck } from '#localnet/validation/rules.js';
import { Random } from '#test/fuzz/random.js';
import { Traffic } from './traffic.js';

export interface LongRunOptions {
  /** Asked before each round. */
  readonly enough: (report: LongRunReport) => boolean;
  readonly seed: string;
  /** External-in messages in a masterchain block, at most. */
  readonly messages: number;
  /** Called after each round. */
  readonly progress?: (report: LongRunReport) => void;
}

/** What happened. */
export interface LongRunReport {
  readonly bundles: number;
  readonly blocks: number;
  readonly transactions: number;
  readonly messages: number;
  readonly splits: number;
  readonly merges: number;
  readonly keyBlocks: number;
  readonly mostShards: number;
  /** Of external-in messages. */
  readonly refused: number;
  /** Deviations, which only key blocks have: an account that was set. */
  readonly deviations: number;
  readonly produceMs: number;
  readonly checkMs: number;
}

type Counts = { -readonly [K in keyof LongRunReport]: LongRunReport[K] };

const BEGAN = 1_790_000_000;
/** A parameter of the configuration that is free for anything. */
const FREE_PARAMETER = -1001;
const MOST_SHARDS = 4;

/**
 * Makes a chain with random traffic, splits, merges and key blocks, and checks each masterchain block, and at begin and end the whole
 * states.
 *
 * @throws validation/* at the first masterchain block that a validator would not accept
 */
export async function longRun(options: LongRunOptions, emulation: Emulation): Promise<LongRunReport> {
  const random = new Random(options.seed);
  const randomBytes = (size: number) => random.bytes(size);
  const genesis = makeGenesis({ now: BEGAN, randomBytes });
  const zerostates = [genesis.masterchain, ...genesis.workchains];
  for (const { state } of zerostates) checkState(state, 'zerostate');
  const producer = new BlockProducer({
    emulation,
    validatorSeed: genesis.validatorSeed,
    signatureKind: random.chance(1, 2) ? 'simplex' : 'ordinary',
    randomBytes,
    now: () => performance.now(),
  });
  let tip: ChainTip = { masterchain: genesis.masterchain, shards: [] };
  const validator = new BlockValidator(tip, zerostates);
  const traffic = new Traffic(random, genesis.wallets);
  const wishes = new Wishes(random);
  const counts: Counts = {
    bundles: 0,
    blocks: 0,
    transactions: 0,
    messages: 0,
    splits: 0,
    merges: 0,
    keyBlocks: 0,
    mostShards: 0,
    refused: 0,
    deviations: 0,
    produceMs: 0,
    checkMs: 0,
  };
  let waiting: readonly PendingExternalIn[] = [];
  let now = BEGAN;
  while (!options.enough(counts)) {
    now += random.chance(1, 30) ? 40 : random.below(2);
    const overrides: StateOverride[] = [];
    if (random.chance(1, 60)) overrides.push(keyBlock(tip, genesis, counts.bundles));
    const externals = [...waiting, ...traffic.messages(random.below(options.messages + 1), now)];
    const request: BlockRequest = {
      tip,
      zerostates: genesis.workchains,
      now,
      externals,
      overrides,
      wants: wishes.of(tip),
      full: () => false,
    };
    const began = performance.now();
    const { bundle, externals: outcomes, failed } = await producer.produce(request);
    const made = performance.now();
    if (failed.length > 0) throw new Error(`an override failed: ${failed[0]!.problem}`);
    const report = validator.check(bundle);
    counts.checkMs += performance.now() - made;
    counts.produceMs += made - began;
    counts.bundles++;
    counts.blocks += report.blocks;
    counts.transactions += report.transactions;
    counts.messages += report.messages;
    counts.refused += outcomes.filter(({ kind }) => kind === 'refused').length;
    counts.deviations += report.deviations.length;
    if (bundle.masterchain.key_block) counts.keyBlocks++;
    const unexpected = report.deviations.filter(({ kind }) => kind !== 'account-set' || overrides.length === 0);
    if (unexpected.length > 0)
      throw new Error(`${unexpected[0]!.block}: ${unexpected[0]!.kind} of ${unexpected[0]!.subject}`);
    waiting = traffic.settle(externals, outcomes);
    const next = tipAfter(tip, bundle);
    countShards(counts, tip, next);
    tip = next;
    options.progress?.(counts);
  }
  for (const { state, id } of [tip.masterchain, ...tip.shards]) checkState(state, `state of ${printShard(id)}`);
  return counts;
}

/** Decodes a whole state, and checks all dictionaries in it: what was checked change by change, now at once. */
function checkState(state: ChainState['state'], name: string): void {
  checkWholeState(decodeCell(ShardStateUnsplit, state) as ShardStateUnsplit, new RuleCheck(name));
}

/** Another value of a parameter that nobody needs. */
function keyBlock(tip: ChainTip, genesis: Genesis, value: number): StateOverride {
  return changeConfig(tip.masterchain.state, genesis, FREE_PARAMETER, new Builder().storeUint(value, 32).endCell());
}

/** Where the chain stands after a round. */
export function tipAfter(tip: ChainTip, { shards, masterchain }: NewBlockBundle): ChainTip {
  const known: readonly ChainState[] = [...shards, ...tip.shards];
  const find = (id: BlockId) => known.find((each) => sameBlock(each.id, id)) ?? [];
  const { shard_hashes } = decodeCell(ShardStateUnsplit, masterchain.state).custom!.value;
  return { masterchain, shards: [...shardDescrs(shard_hashes)].map(blockOfShard).flatMap(find) };
}

function countShards(counts: Counts, before: ChainTip, after: ChainTip): void {
  const old = new Set(before.shards.map(({ id }) => printShard(id)));
  for (const { id } of after.shards) {
    if (old.has(printShard(id)) || old.size === 0) continue;
    const isHalf = shardPrefixLength(id.shard) > 0 && old.has(printShard({ ...id, shard: shardParent(id.shard) }));
    // Each split makes two.
    if (isHalf) counts.splits += 0.5;
    else counts.merges++;
  }
  counts.mostShards = Math.max(counts.mostShards, after.shards.length);
}

/** Which shards want to split or merge: one thing after the other, until it has happened. */
class Wishes {
  readonly #random: Random;
  #wish: { readonly kind: 'split' | 'merge'; readonly shard: Shard } | null = null;

  constructor(random: Random) {
    this.#random = random;
  }

  of({ shards }: ChainTip): BlockRequest['wants'] {
    const there = shards.map(({ id }) => ({ workchain: id.workchain, shard: id.shard }));
    const has = (shard: Shard) => there.some((each) => printShard(each) === printShard(shard));
    if (this.#wish !== null && !has(this.#wish.shard)) this.#wish = null;
    if (this.#wish === null && there.length > 0 && this.#random.chance(1, 12)) {
      const shard = this.#random.pick(there);
      const kind = there.length < MOST_SHARDS && this.#random.chance(3, 5) ? 'split' : 'merge';
      const canMerge = shardPrefixLength(shard.shard) > 0 && has({ ...shard, shard: shardSibling(shard.shard) });
      if (kind === 'split' || canMerge) this.#wish = { kind, shard };
    }
    const wish = this.#wish;
    if (wish === null) return { split: [], merge: [] };
    if (wish.kind === 'split') return { split: [wish.shard], merge: [] };
    return { split: [], merge: [wish.shard, { ...wish.shard, shard: shardSibling(wish.shard.shard) }] };
  }
}
