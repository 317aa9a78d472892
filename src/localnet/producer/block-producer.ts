import type { Cell } from '#formats/cells/cell.js';
import {
  type BlockId,
  MASTERCHAIN_SHARD,
  printBlockId,
  printShard,
  type Shard,
  sameShard,
} from '#formats/proofs/block-id.js';
import { shardSibling } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { configParam } from '#formats/tlb/config/config-params.js';
import { type ShardEntry, shardDescrs } from '#formats/tlb/shard-hashes.js';
import { ShardStateUnsplit, splitStateCell } from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import type { ChainState } from '#localnet/ledger/block-bundle.js';
import type { MadeBlock } from '#localnet/producer/block-cells.js';
import { MasterchainView, type ProductionContext } from '#localnet/producer/block-context.js';
import type {
  BlockRequest,
  ExternalInOutcome,
  PendingExternalIn,
  ProducedBundle,
  ProducerModules,
} from '#localnet/producer/block-request.js';
import type { Neighbour } from '#localnet/producer/collation.js';
import { producerErrors } from '#localnet/producer/errors.js';
import { makeMasterchainBlock, makeShardBlock, type ShardBlockPlan } from '#localnet/producer/make-blocks.js';
import { MessageFaults } from '#localnet/producer/message-receiver.js';
import { contains, routingPrefix } from '#localnet/producer/routing.js';
import { type NextShardBlock, nextShardBlocks } from '#localnet/producer/shard-config.js';
import { signBlock, type ValidatorKey, validatorKey } from '#localnet/producer/sign-block.js';
import { mergeStates, splitState } from '#localnet/producer/split-merge-states.js';
import { placeOverrides } from '#localnet/producer/state-overrides.js';

/** A decoded state of the tip. */
interface OpenedState extends ChainState {
  readonly value: ShardStateUnsplit;
}

/**
 * Produces bundles: one block per shard on the newest masterchain block, then the masterchain block that commits them.
 */
export class BlockProducer {
  readonly #modules: ProducerModules;
  readonly #key: ValidatorKey;
  readonly #faults = new MessageFaults();

  constructor(modules: ProducerModules) {
    this.#modules = modules;
    this.#key = validatorKey(modules.validatorSeed);
  }

  /** @throws producer/*, and what decoding the states of the tip throws */
  async produce(request: BlockRequest): Promise<ProducedBundle> {
    const began = this.#modules.now();
    const { tip, full } = request;
    const masterchain = openState(tip.masterchain);
    const extra = masterchain.value.custom?.value;
    if (extra === undefined) throw producerErrors['state-missing']({ block: printBlockId(tip.masterchain.id) });
    const view = new MasterchainView(tip.masterchain.id, masterchain.value, extra);
    const listed = [...shardDescrs(extra.shard_hashes)].map((entry) => findState(request, entry));
    const gen_utime = Math.max(request.now, masterchain.value.gen_utime, ...listed.map(({ value }) => value.gen_utime));
    const next = nextShardBlocks(extra.shard_hashes, gen_utime);
    const context: ProductionContext = {
      modules: this.#modules,
      key: this.#key,
      view,
      gen_utime,
      full,
      faults: this.#faults,
      forkedAccount: this.#modules.forkedAccount ?? null,
    };
    const overrides = placeOverrides(request.overrides, next);

    const plans = next.map((each) => ({
      ...planShardBlock(request, masterchain, listed, each),
      overrides: overrides.of(each),
    }));
    const shards = await Promise.all(plans.map((plan) => makeShardBlock(context, plan)));
    const made = shards.map(({ block }) => block);

    const top = await makeMasterchainBlock(context, {
      root: masterchain.state,
      tops: made,
      neighbours: neighboursOfMasterchain(request, made),
      externals: request.externals.filter(({ dest }) => dest.workchain === MASTERCHAIN_SHARD.workchain),
      overrides: overrides.of(MASTERCHAIN_SHARD),
    });
    const parts = [...shards, top];
    const refused = refuseUnreachable(request, context, next);
    const signatures = signBlock(top.block.id, {
      kind: this.#modules.signatureKind,
      key: this.#key,
      group: top.session,
      randomBytes: this.#modules.randomBytes,
    });
    return {
      bundle: {
        shards: made.map(newBlock),
        masterchain: { ...newBlock(top.block), key_block: top.key_block },
        signatures,
      },
      externals: [...parts.flatMap(({ externals }) => externals), ...refused],
      failed: [...overrides.failed, ...parts.flatMap(({ failed }) => failed)],
      counts: {
        transactions: parts.reduce((sum, { transactions }) => sum + transactions, 0),
        emulateMs: parts.reduce((sum, { emulateMs }) => sum + emulateMs, 0),
        totalMs: this.#modules.now() - began,
      },
    };
  }
}

function openState(state: ChainState): OpenedState {
  return { ...state, value: decodeCell(ShardStateUnsplit, state.state) as ShardStateUnsplit };
}

/** The state after a registered block. @throws producer/state-missing */
function findState({ tip, zerostates }: BlockRequest, entry: ShardEntry): OpenedState {
  for (const known of [...tip.shards, ...zerostates]) {
    const { id } = known;
    if (sameShard(id, entry) && id.seqno === entry.descr.seq_no && bytesEqual(id.root_hash, entry.descr.root_hash))
      return openState(known);
  }
  if (entry.descr.seq_no === 0)
    throw producerErrors['zerostate-missing']({ workchain: entry.workchain, root_hash: toHex(entry.descr.root_hash) });
  throw producerErrors['state-missing']({ block: `${printShard(entry)} seqno ${entry.descr.seq_no}` });
}

function planShardBlock(
  request: BlockRequest,
  masterchain: OpenedState,
  listed: readonly OpenedState[],
  next: NextShardBlock,
): Omit<ShardBlockPlan, 'overrides'> {
  const own = next.prev.map((entry) => listed.find(({ id }) => sameShard(id, entry)) as OpenedState);
  const [first, second] = own as [OpenedState, OpenedState | undefined];
  const others = listed.filter((state) => !own.includes(state));
  const neighbours = [masterchain, ...others].map(neighbourOf);
  let root: Cell = first.state;
  let before = first.value;
  if (second !== undefined) {
    root = splitStateCell(first.state, second.state);
    before = mergeStates(first.value, second.value);
  } else if (next.after_split) {
    before = splitState(first.value, next.shard);
    const sibling = shardSibling(next.shard);
    neighbours.push({
      shard: { workchain: next.workchain, shard: sibling },
      end_lt: first.value.gen_lt,
      state: splitState(first.value, sibling),
    });
  }
  const shard: Shard = next;
  const { wants } = request;
  return {
    next,
    prev: own.map(({ id, value }) => ({ id, end_lt: value.gen_lt })),
    root,
    before,
    neighbours,
    externals: request.externals.filter(({ dest }) => contains(shard, routingPrefix(dest))),
    wants: {
      split: wants.split.some((each) => sameShard(each, shard)),
      merge: wants.merge.some((each) => sameShard(each, shard)),
    },
  };
}

function neighbourOf({ id, value }: OpenedState): Neighbour {
  return { shard: { workchain: id.workchain, shard: id.shard }, end_lt: value.gen_lt, state: value };
}

/** The shards that the masterchain block will list: each has a new block, except in workchains that start. */
function neighboursOfMasterchain(request: BlockRequest, made: readonly MadeBlock[]): Neighbour[] {
  const startedAt = new Set(made.map(({ id }) => id.workchain));
  return [
    ...made.map(({ id, stateValue, end_lt }) => ({ shard: shardOf(id), end_lt, state: stateValue })),
    ...request.zerostates
      .filter(({ id }) => !startedAt.has(id.workchain) && id.workchain !== MASTERCHAIN_SHARD.workchain)
      .map((each) => neighbourOf(openState(each))),
  ];
}

function shardOf({ workchain, shard }: BlockId): Shard {
  return { workchain, shard };
}

/**
 * External-in messages to workchains that do not exist. Those to a workchain that has not started yet remain in the
 * pool.
 */
function refuseUnreachable(
  { externals }: BlockRequest,
  { view }: ProductionContext,
  next: readonly NextShardBlock[],
): ExternalInOutcome[] {
  const workchains = configParam(view.extra.config.config, 12);
  const unreachable = (message: PendingExternalIn): boolean => {
    const { workchain } = message.dest;
    if (workchain === MASTERCHAIN_SHARD.workchain || next.some((each) => each.workchain === workchain)) return false;
    return workchains?.has(workchain) !== true;
  };
  return externals.filter(unreachable).map((message) => ({
    message,
    kind: 'refused',
    exit_code: null,
    problem: `there is no workchain ${message.dest.workchain}`,
  }));
}

/** Drops the fields that only the producer needs. */
function newBlock({ id, state, bytes, root, prev, gen_utime, end_lt }: MadeBlock) {
  return { id, state, bytes, root, prev, gen_utime, end_lt };
}
