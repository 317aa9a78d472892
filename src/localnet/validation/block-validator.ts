import { type BlockId, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { checkSignatures } from '#formats/proofs/signatures.js';
import { shardSibling } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { addCurrency } from '#formats/tlb/currency.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainState, ChainTip, NewBlock, NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import { type ChangedAccount, checkAccounts, checkKinds } from '#localnet/validation/accounts.js';
import {
  type BlockContext,
  checkWholeBlock,
  type KnownState,
  type OpenBlock,
  openBlock,
  readable,
} from '#localnet/validation/block-context.js';
import { validationErrors } from '#localnet/validation/errors.js';
import { checkEndLt, checkHeader, checkNewState, checkShardTurn } from '#localnet/validation/header.js';
import { checkInMessages } from '#localnet/validation/in-messages.js';
import {
  checkBlockCreateStats,
  checkConfigUpdate,
  checkLibraries,
  checkMasterchainState,
} from '#localnet/validation/masterchain-state.js';
import { McStateView } from '#localnet/validation/masterchain-view.js';
import { checkOutMessages } from '#localnet/validation/out-messages.js';
import { checkProcessedInfo, checkQueues } from '#localnet/validation/queue.js';
import type { Deviation } from '#localnet/validation/rules.js';
import {
  type KnownEndLt,
  type ListedShard,
  mergeBoth,
  neighboursOf,
  type ShardBefore,
  splitOff,
  unchanged,
} from '#localnet/validation/shard-before.js';
import { checkShardLayout } from '#localnet/validation/shard-layout.js';
import { checkTransactionMessages, MessageBook } from '#localnet/validation/transaction-messages.js';
import { checkSpecialMessages, checkValueFlow } from '#localnet/validation/value-flow.js';

/** Number of masterchain blocks, and of the shard blocks that they list, whose states are retained. */
const REMEMBERED = 128;

/** Report on a valid bundle. */
export interface BundleReport extends BlockCounts {
  readonly blocks: number;
  /** State overrides; none in an ordinary chain. */
  readonly deviations: readonly Deviation[];
}

/**
 * Validates consecutive bundles of a chain as a validator does, except for the computation of contracts.
 *
 * It starts at a trusted tip, best the zerostates. Blocks may refer to masterchain blocks slightly older than the tip;
 * their states must be given as well.
 */
export class BlockValidator {
  readonly #states = new Map<string, KnownState & { readonly mc_seqno: number }>();
  readonly #masterchain = new Map<number, McStateView>();
  #head: McStateView;

  /**
   * @param tip start of the validation; each state must be complete
   * @param zerostates of the masterchain and of all workchains
   * @param earlier older masterchain states that blocks may still refer to, oldest first
   */
  constructor(tip: ChainTip, zerostates: readonly ChainState[], earlier: readonly ChainState[] = []) {
    let view: McStateView | null = null;
    for (const { id, state } of [...earlier, tip.masterchain]) {
      view = McStateView.of(id, state, view);
      this.#masterchain.set(id.seqno, view);
    }
    this.#head = view!;
    const { seqno } = tip.masterchain.id;
    for (const each of zerostates) this.#remember(each, Number.POSITIVE_INFINITY);
    for (const each of [...tip.shards, tip.masterchain]) this.#remember(each, seqno);
  }

  /**
   * Validates the next bundle and makes it the new head.
   * @throws validation/broken-rule, validation/malformed, validation/unknown-state: then the validator is unchanged
   */
  check(bundle: NewBlockBundle): BundleReport {
    const attempt = new BundleCheck(this, bundle);
    const report = attempt.run();
    const { seqno } = bundle.masterchain.id;
    this.#head = attempt.masterchain;
    this.#masterchain.set(seqno, attempt.masterchain);
    for (const { id, state, root } of attempt.states)
      this.#states.set(toHex(id.root_hash), { id, state, root, mc_seqno: seqno });
    this.#forget(seqno);
    return report;
  }

  /** The newest masterchain state. */
  get head(): McStateView {
    return this.#head;
  }

  /** The state after a block; `null` if it is not retained. */
  stateAfter(id: BlockId): KnownState | null {
    return this.#states.get(toHex(id.root_hash)) ?? null;
  }

  /** The view of a masterchain state; `null` if it is not retained. */
  masterchainAt(seqno: number): McStateView | null {
    return this.#masterchain.get(seqno) ?? null;
  }

  #remember({ id, state }: ChainState, mc_seqno: number): void {
    this.#states.set(toHex(id.root_hash), { id, state: decodeCell(ShardStateUnsplit, state), root: state, mc_seqno });
  }

  /** The state of a shard's newest block is retained whatever its age. */
  #forget(seqno: number): void {
    if (seqno % REMEMBERED !== 0) return;
    const oldest = seqno - REMEMBERED;
    const current = new Set(this.#head.shards.map((entry) => toHex(entry.descr.root_hash)));
    for (const [hash, { mc_seqno }] of this.#states)
      if (mc_seqno < oldest && !current.has(hash)) this.#states.delete(hash);
    for (const known of this.#masterchain.keys()) if (known < oldest) this.#masterchain.delete(known);
  }
}

/** The validation of one bundle, whose states are not yet known to the validator. */
class BundleCheck {
  readonly #validator: BlockValidator;
  readonly #bundle: NewBlockBundle;
  readonly #states = new Map<string, KnownState>();
  readonly #deviations: Deviation[] = [];
  #masterchain: McStateView | null = null;

  constructor(validator: BlockValidator, bundle: NewBlockBundle) {
    this.#validator = validator;
    this.#bundle = bundle;
  }

  /** The masterchain state after the bundle. */
  get masterchain(): McStateView {
    return this.#masterchain!;
  }

  get states(): Iterable<KnownState> {
    return this.#states.values();
  }

  run(): BundleReport {
    const { shards, masterchain, signatures } = this.#bundle;
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

  /** Decoding errors are errors of the block. */
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
    const view = new McStateView(id, after, after.custom.value, reference);
    this.#masterchain = view;
    return this.#context(block, reference, view, view.shards.map(blockOfShard));
  }

  #listed(block: OpenBlock, id: BlockId): ListedShard {
    const known = this.#stateAfter(id);
    if (known !== null) return known;
    if (block.mcExtra !== null) throw block.rules.broken('shard-chain', 'a block of this bundle', id);
    throw this.#unknown(block, printPosition(id));
  }

  #unknown({ rules }: OpenBlock, needed: string): Error {
    return validationErrors['unknown-state']({ block: rules.block, needed });
  }

  #context(
    block: OpenBlock,
    reference: McStateView,
    afterView: McStateView | null,
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

/** The state before a block, and after a split also that of the other half. */
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

/** Number of checked transactions and messages. */
interface BlockCounts {
  readonly transactions: number;
  /** Inbound and outbound. */
  readonly messages: number;
}

/** Results that the checks of masterchain blocks need. */
interface CheckedBlock {
  readonly accounts: readonly ChangedAccount[];
  readonly book: MessageBook;
}

/** Validates a shard block. @throws validation/broken-rule, validation/malformed */
function checkBlock(context: BlockContext): BlockCounts {
  return countsOf(checkCommon(context));
}

/** Checks for blocks of all chains. */
function checkCommon(context: BlockContext): CheckedBlock {
  checkWholeBlock(context);
  checkHeader(context);
  checkShardTurn(context);
  const { changed: accounts, imported } = checkAccounts(context);
  const book = new MessageBook(context, accounts);
  checkKinds(context, accounts);
  checkInMessages(context, book);
  checkOutMessages(context, book);
  const { gained, lost } = checkTransactionMessages(context, book, accounts);
  checkEndLt(context, book);
  checkQueues(context, book);
  checkProcessedInfo(context, book);
  checkValueFlow(context, { gained: addCurrency(gained, imported), lost });
  checkNewState(context);
  return { accounts, book };
}

function countsOf({ book }: CheckedBlock): BlockCounts {
  return { transactions: book.transactions.length, messages: book.in.size + book.out.size };
}

/**
 * Validates a masterchain block.
 * @param shards the newly committed shard blocks, by root hash in hex
 * @throws validation/broken-rule, validation/malformed
 */
function checkMasterchainBlock(context: BlockContext, shards: ReadonlyMap<string, OpenBlock>): BlockCounts {
  const checked = checkCommon(context);
  checkShardLayout(context, shards);
  checkSpecialMessages(context, checked.book);
  checkLibraries(context, checked.accounts);
  checkMasterchainState(context);
  checkConfigUpdate(context, checked.accounts);
  checkBlockCreateStats(context, shards.values());
  return countsOf(checked);
}
