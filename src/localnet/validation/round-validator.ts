import { type BlockId, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { checkSignatures } from '#formats/proofs/signatures.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardSibling } from '#formats/tlb/shard-ident.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { ChainState, ChainTip, NewBlock, Round } from '#localnet/ledger/round.js';
import type { BlockContext, OpenBlock } from '#localnet/validation/block-context.js';
import { type BlockCounts, checkBlock } from '#localnet/validation/check-block.js';
import { checkMasterchainBlock } from '#localnet/validation/check-masterchain-block.js';
import type { Deviation } from '#localnet/validation/deviation.js';
import { validationErrors } from '#localnet/validation/errors.js';
import { MasterchainView } from '#localnet/validation/masterchain-view.js';
import { type ListedShard, neighboursOf } from '#localnet/validation/neighbours.js';
import { type KnownState, openBlock, readable } from '#localnet/validation/open-block.js';
import type { KnownEndLt } from '#localnet/validation/processed-upto.js';
import { mergeBoth, type ShardBefore, splitOff, unchanged } from '#localnet/validation/shard-before.js';

/** How many masterchain blocks, and blocks of shards that they list, are remembered. */
const REMEMBERED = 128;

/** What was found in a round that is sound. */
export interface RoundReport extends BlockCounts {
  readonly blocks: number;
  /** What no network does, but a developer did. Of an ordinary chain, none. */
  readonly deviations: readonly Deviation[];
}

/**
 * Checks rounds of a chain one after the other, as a validator does: everything but what contracts compute.
 *
 * It begins at a tip that is trusted, best the zerostates. Blocks may refer to masterchain blocks a bit older than the tip;
 * those are to be given, too.
 */
export class RoundValidator {
  readonly #states = new Map<string, KnownState & { readonly mc_seqno: number }>();
  readonly #masterchain = new Map<number, MasterchainView>();
  #head: MasterchainView;

  /**
   * @param tip where the chain stands; each state must be whole
   * @param zerostates of the masterchain and of all workchains
   * @param earlier older states of the masterchain that blocks may still refer to, oldest first
   */
  constructor(tip: ChainTip, zerostates: readonly ChainState[], earlier: readonly ChainState[] = []) {
    let view: MasterchainView | null = null;
    for (const { id, state } of [...earlier, tip.masterchain]) {
      view = MasterchainView.of(id, state, view);
      this.#masterchain.set(id.seqno, view);
    }
    this.#head = view!;
    const { seqno } = tip.masterchain.id;
    for (const each of zerostates) this.#remember(each, Number.POSITIVE_INFINITY);
    for (const each of [...tip.shards, tip.masterchain]) this.#remember(each, seqno);
  }

  /**
   * Checks the round that follows, and takes it as the new head.
   * @throws validation/broken-rule, validation/malformed, validation/unknown-state: then the validator stays where it was
   */
  check(round: Round): RoundReport {
    const attempt = new RoundCheck(this, round);
    const report = attempt.run();
    const { seqno } = round.masterchain.id;
    this.#head = attempt.masterchain;
    this.#masterchain.set(seqno, attempt.masterchain);
    for (const { id, state, root } of attempt.states)
      this.#states.set(toHex(id.root_hash), { id, state, root, mc_seqno: seqno });
    this.#forget(seqno);
    return report;
  }

  /** The newest masterchain state. */
  get head(): MasterchainView {
    return this.#head;
  }

  /** The state after a block; `null` when it is not known. */
  stateAfter(id: BlockId): KnownState | null {
    return this.#states.get(toHex(id.root_hash)) ?? null;
  }

  /** The view of a masterchain state; `null` when it is not known. */
  masterchainAt(seqno: number): MasterchainView | null {
    return this.#masterchain.get(seqno) ?? null;
  }

  #remember({ id, state }: ChainState, mc_seqno: number): void {
    this.#states.set(toHex(id.root_hash), { id, state: decodeCell(ShardStateUnsplit, state), root: state, mc_seqno });
  }

  /** A shard's newest block is remembered however old it is. */
  #forget(seqno: number): void {
    if (seqno % REMEMBERED !== 0) return;
    const oldest = seqno - REMEMBERED;
    const current = new Set(this.#head.shards.map((entry) => toHex(entry.descr.root_hash)));
    for (const [hash, { mc_seqno }] of this.#states)
      if (mc_seqno < oldest && !current.has(hash)) this.#states.delete(hash);
    for (const known of this.#masterchain.keys()) if (known < oldest) this.#masterchain.delete(known);
  }
}

/** The check of one round: what it brings is known here before it is known to the validator. */
class RoundCheck {
  readonly #validator: RoundValidator;
  readonly #round: Round;
  readonly #states = new Map<string, KnownState>();
  readonly #deviations: Deviation[] = [];
  #masterchain: MasterchainView | null = null;

  constructor(validator: RoundValidator, round: Round) {
    this.#validator = validator;
    this.#round = round;
  }

  /** The masterchain state after the round. */
  get masterchain(): MasterchainView {
    return this.#masterchain!;
  }

  get states(): Iterable<KnownState> {
    return this.#states.values();
  }

  run(): RoundReport {
    const { shards, masterchain, signatures } = this.#round;
    const counts = { transactions: 0, messages: 0 };
    const open = new Map<string, OpenBlock>();
    const add = ({ transactions, messages }: BlockCounts) => {
      counts.transactions += transactions;
      counts.messages += messages;
    };
    for (const given of shards) {
      const block = this.#open(given);
      open.set(toHex(block.id.root_hash), block);
      add(this.#within(block, () => checkBlock(this.#shardContext(block))));
    }
    const block = this.#open(masterchain);
    const { rules, info } = block;
    rules.equal('given-block', info.key_block, masterchain.key_block, 'key_block');
    rules.equal('prev-ref', this.#validator.head.id, block.previous[0]!.id);
    const context = this.#within(block, () => this.#masterchainContext(block));
    add(this.#within(block, () => checkMasterchainBlock(context, open)));
    const group = context.reference.config.validatorGroup(block.shard, info.gen_catchain_seqno);
    try {
      checkSignatures(signatures, block.id, group);
    } catch (error) {
      if (!isTernError(error)) throw error;
      throw rules.broken('signatures', 'signatures of more than two thirds', error.message);
    }
    return { ...counts, blocks: shards.length + 1, deviations: this.#deviations };
  }

  #open(given: NewBlock): OpenBlock {
    const block = openBlock(given, (id) => this.#stateAfter(id));
    const { id, after, stateRoot } = block;
    this.#states.set(toHex(id.root_hash), { id, state: after, root: stateRoot });
    return block;
  }

  /** What goes wrong in reading the block is an error of the block. */
  #within<T>(block: OpenBlock, check: () => T): T {
    return readable(block.rules.block, check);
  }

  #stateAfter(id: BlockId): KnownState | null {
    return this.#states.get(toHex(id.root_hash)) ?? this.#validator.stateAfter(id);
  }

  #shardContext(block: OpenBlock): BlockContext {
    const { rules, info } = block;
    const { master_ref } = info;
    if (master_ref === null || isMasterchain(block.id)) throw rules.broken('master-ref', 'a reference', 'none');
    const { seq_no } = master_ref.value.master;
    const reference = this.#validator.masterchainAt(seq_no);
    if (reference === null) throw this.#unknown(block, `masterchain block ${seq_no}`);
    return this.#context(block, reference, null, reference.shards.map(blockOfShard));
  }

  #masterchainContext(block: OpenBlock): BlockContext {
    const { id, after, rules } = block;
    const reference = this.#validator.head;
    if (after.custom === null) throw rules.broken('state-header', 'a masterchain state', 'another');
    const view = new MasterchainView(id, after, after.custom.value, reference);
    this.#masterchain = view;
    return this.#context(block, reference, view, view.shards.map(blockOfShard));
  }

  #listed(block: OpenBlock, id: BlockId): ListedShard {
    const known = this.#stateAfter(id);
    if (known !== null) return known;
    if (block.mcExtra !== null) throw block.rules.broken('shard-chain', 'a block of this round', id);
    throw this.#unknown(block, printPosition(id));
  }

  #unknown({ rules }: OpenBlock, needed: string): Error {
    return validationErrors['unknown-state']({ block: rules.block, needed });
  }

  #context(
    block: OpenBlock,
    reference: MasterchainView,
    afterView: MasterchainView | null,
    listed: readonly BlockId[],
  ): BlockContext {
    const { before, sibling } = startOf(block);
    const others = afterView === null ? [...listed, reference.id] : listed;
    const stateAfter = (id: BlockId) => (id === reference.id ? reference : this.#listed(block, id));
    const endLt: KnownEndLt = (mc_seqno, prefix) => {
      if (afterView !== null && mc_seqno === afterView.id.seqno) return afterView.endLt(prefix);
      const view = mc_seqno >= reference.id.seqno ? reference : this.#validator.masterchainAt(mc_seqno);
      if (view === null) throw this.#unknown(block, `masterchain block ${mc_seqno}`);
      return view.endLt(prefix);
    };
    return {
      ...block,
      reference,
      afterView,
      globalVersion: reference.config.globalVersion,
      before,
      neighbours: neighboursOf(others, stateAfter, before, sibling),
      endLt,
      deviations: this.#deviations,
    };
  }
}

/** What a block starts from, and after a split, what the other half starts from. */
function startOf({ shard, info, previous }: OpenBlock): {
  readonly before: ShardBefore;
  readonly sibling: ShardBefore | null;
} {
  const [first, second] = previous;
  if (second !== undefined) return { before: mergeBoth(first!.state, second.state, shard), sibling: null };
  if (!info.after_split) return { before: unchanged(first!.state), sibling: null };
  const other = { workchain: shard.workchain, shard: shardSibling(shard.shard) };
  return { before: splitOff(first!.state, shard), sibling: splitOff(first!.state, other) };
}
