import type { LogLevel } from '#drivers/tvm/request-fields.js';
import type { TransactionResult } from '#drivers/tvm/transaction.js';
import type { Emulation } from '#drivers/tvm/transaction-runner.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import { Cell } from '#formats/cells/cell.js';
import { Slice } from '#formats/cells/slice.js';
import { type BlockId, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { prevMcBlocks } from '#formats/proofs/shard-state.js';
import { Account, ShardAccount } from '#formats/tlb/account.js';
import { Block } from '#formats/tlb/block.js';
import { accountPrefix, shardContains, shardOf } from '#formats/tlb/block-id.js';
import { type Codec, decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { configParam } from '#formats/tlb/config/config-params.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { pathOf, walkValue } from '#formats/tlb/walk-value.js';
import { toHex } from '#kernel/bytes.js';
import { buildChain, type ChainBlock, type RecordedChain } from '#localnet/replay/recorded-chain.js';
import { readFolder, sortContent } from '#localnet/replay/recorded-folder.js';
import { EMPTY_SHARD_ACCOUNT } from '#test/support/tvm-contract.js';

/** A part of a transaction, or of the account after it, that did not come out the same. */
interface Difference {
  /** The way to it: `transaction.description.compute_ph.gas_used`; `emulation` when there is no transaction. */
  readonly field: string;
  readonly recorded: string;
  readonly emulated: string;
}

/** A transaction of a chain, emulated again from what was before it. */
export interface Repetition {
  /** `0:`, 64 hex digits, and the lt. */
  readonly name: string;
  /** Position of its block. */
  readonly block: string;
  /** Of the message, or without one. */
  readonly kind: 'internal' | 'external' | 'tick' | 'tock';
  /** Whether code was run. */
  readonly computed: boolean;
  /** None: the hash is the same, and, of the last one of a block, the account after it. */
  readonly differences: readonly Difference[];
  readonly vm_log: string;
}

/** The emulator's answer, or that it failed. */
type Answer = TransactionResult | { readonly accepted: false; readonly problem: string; readonly vm_log: string };

/** The masterchain's side of what a transaction depends on. */
interface Ground {
  readonly seqno: number;
  readonly config: Cell;
  readonly libraries: Cell | null;
  readonly prev_blocks_info: ReturnType<typeof prevMcBlocks>;
}

/** Emulates the transactions of a recorded chain again, each account's in a block on top of each other. */
export class TransactionRepeater {
  readonly chain: RecordedChain;
  readonly #emulation: Emulation;
  readonly #log_level: LogLevel;
  /** By root hash of the block or zerostate. */
  readonly #states = new Map<string, Cell>();
  #ground: Ground | null = null;

  /** @param folder with archive packs and zerostates */
  constructor(folder: string, emulation: Emulation, log_level: LogLevel = 'short') {
    this.chain = buildChain(sortContent(readFolder(folder)), null);
    this.#emulation = emulation;
    this.#log_level = log_level;
    const { zerostates, masterchain, shards } = this.chain;
    for (const { id, root } of zerostates) this.#states.set(toHex(id.root_hash), root);
    for (const { id, state } of [...masterchain, ...shards]) this.#states.set(toHex(id.root_hash), state);
  }

  /**
   * All of a block, in the order of account and lt. What follows a transaction that differs starts from the account that
   * the emulated one leaves, but names the recorded one as the one before: so a difference is told once.
   */
  async repeatBlock(block: ChainBlock): Promise<Repetition[]> {
    const { info, extra } = decodeCell(Block, parseBocRoot(block.bytes));
    const { master_ref, gen_utime: now } = info.value;
    const { account_blocks, rand_seed } = extra.value;
    const before = block.prev.map((id) => this.#stateAfter(id));
    const after = [this.#stateAfter(block.id)];
    const ground = this.#groundAt(master_ref === null ? block.id.seqno - 1 : master_ref.value.master.seq_no);
    const repeatAccount = async (account: Uint8Array, recorded: readonly Cell[]): Promise<Repetition[]> => {
      let shard_account = accountIn(before, account);
      const found: Repetition[] = [];
      for (const [i, cell] of recorded.entries()) {
        const transaction = decodeCell(Transaction, cell);
        const { config, libraries, prev_blocks_info } = ground;
        const { lt } = transaction;
        const log_level = this.#log_level;
        const context = { shard_account, config, libraries, prev_blocks_info, now, lt, rand_seed, log_level };
        const result = await this.#emulate(transaction, context);
        const last = i === recorded.length - 1;
        found.push({
          name: `${block.id.workchain}:${toHex(account)} ${lt}`,
          block: printPosition(block.id),
          kind: kindOf(transaction),
          computed: computed(transaction),
          differences: differencesOf(result, cell, last ? accountIn(after, account) : null),
          vm_log: result.vm_log,
        });
        if (result.accepted) shard_account = followedBy(result.shard_account, cell, lt);
      }
      return found;
    };
    const accounts = [...account_blocks.value].map(([account, { transactions }]) =>
      repeatAccount(
        account,
        [...transactions].map(([, lazy]) => lazy.cell),
      ),
    );
    return (await Promise.all(accounts)).flat();
  }

  async #emulate(
    { in_msg, description }: Transaction,
    context: Omit<Parameters<Emulation['emulateTickTock']>[0], 'which'>,
  ): Promise<Answer> {
    try {
      if (in_msg !== null) return await this.#emulation.emulateTransaction({ ...context, message: in_msg.cell });
      const descr = description.value;
      const which = descr.kind === 'trans_tick_tock' && descr.is_tock ? 'tock' : 'tick';
      return await this.#emulation.emulateTickTock({ ...context, which });
    } catch (error) {
      return { accepted: false, problem: (error as Error).message, vm_log: '' };
    }
  }

  #groundAt(seqno: number): Ground {
    if (this.#ground?.seqno === seqno) return this.#ground;
    const { masterchain, zerostates } = this.chain;
    const { id } = masterchain[seqno - 1] ?? zerostates.find((zerostate) => isMasterchain(zerostate.id))!;
    const { custom, totals } = this.#stateAfter(id);
    const extra = custom!.value;
    const version = configParam(extra.config.config, 8)?.version ?? 0;
    this.#ground = {
      seqno,
      config: extra.config.config.root!,
      libraries: totals.value.libraries.root,
      prev_blocks_info: prevMcBlocks(id, extra, version),
    };
    return this.#ground;
  }

  #stateAfter({ root_hash }: BlockId): ShardStateUnsplit {
    return decodeCell(ShardStateUnsplit, this.#states.get(toHex(root_hash))!);
  }
}

/** The `ShardAccount` in the state that it belongs to. Before a split it is in the state of a larger shard. */
function accountIn(states: readonly ShardStateUnsplit[], account: Uint8Array): Cell {
  const prefix = accountPrefix(account);
  const state = states.find(({ shard_id }) => shardContains(shardOf(shard_id), prefix))!;
  const found = state.accounts.value.get(account);
  return found === undefined ? EMPTY_SHARD_ACCOUNT : encodeCell(ShardAccount, found);
}

/** An account as the next transaction finds it. */
function followedBy(shard_account: Cell, transaction: Cell, lt: bigint): Cell {
  const { account } = decodeCell(ShardAccount, shard_account);
  return encodeCell(ShardAccount, { account, last_trans_hash: transaction.hash(), last_trans_lt: lt });
}

function kindOf({ in_msg, description }: Transaction): Repetition['kind'] {
  if (in_msg !== null) return in_msg.value.info.kind === 'ext_in_msg_info' ? 'external' : 'internal';
  const descr = description.value;
  return descr.kind === 'trans_tick_tock' && descr.is_tock ? 'tock' : 'tick';
}

function computed({ description }: Transaction): boolean {
  const descr = description.value;
  return 'compute_ph' in descr && descr.compute_ph.kind === 'tr_phase_compute_vm';
}

/** @param after the account in the state after the block, when this is its last transaction there */
function differencesOf(result: Answer, recorded: Cell, after: Cell | null): Difference[] {
  if (!result.accepted) return [{ field: 'emulation', recorded: toHex(recorded.hash()), emulated: result.problem }];
  const found = compareCells(Transaction, recorded, result.transaction, 'transaction');
  if (after === null) return found;
  const emulated = decodeCell(ShardAccount, result.shard_account);
  // An account that is gone leaves nothing in the state, and its last transaction with the emulator.
  if (emulated.account.value.kind === 'account_none') {
    return [...found, ...compareCells(ShardAccount, after, EMPTY_SHARD_ACCOUNT, 'shard_account')];
  }
  const { account, last_trans_hash, last_trans_lt } = decodeCell(ShardAccount, after);
  found.push(...compareCells(Account, account.cell, emulated.account.cell, 'account'));
  if (toHex(last_trans_hash) !== toHex(recorded.hash()) || last_trans_lt !== emulated.last_trans_lt) {
    const [is, was] = [[recorded.hash(), emulated.last_trans_lt] as const, [last_trans_hash, last_trans_lt] as const];
    const text = ([hash, lt]: readonly [Uint8Array, bigint]): string => `${toHex(hash)} ${lt}`;
    found.push({ field: 'shard_account.last_trans', recorded: text(was), emulated: text(is) });
  }
  return found;
}

function compareCells<T>(codec: Codec<T>, recorded: Cell, emulated: Cell, name: string): Difference[] {
  const [a, b] = [toHex(recorded.hash()), toHex(emulated.hash())];
  if (a === b) return [];
  const was = leavesOf(decodeCell(codec, recorded));
  const is = leavesOf(decodeCell(codec, emulated));
  const found: Difference[] = [];
  for (const path of new Set([...was.keys(), ...is.keys()])) {
    const [before, now] = [was.get(path) ?? 'nothing', is.get(path) ?? 'nothing'];
    if (before !== now) found.push({ field: `${name}.${path}`, recorded: before, emulated: now });
  }
  return found.length > 0 ? found : [{ field: name, recorded: a, emulated: b }];
}

/** Everything in a value that has no parts, as text, by the way to it. */
function leavesOf(value: unknown): Map<string, string> {
  const leaves = new Map<string, string>();
  walkValue(value, {
    enter(node, place) {
      if (node.kind === 'leaf' || node.kind === 'opaque') leaves.set(pathOf(place), textOf(node.value));
      return true;
    },
  });
  return leaves;
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof Cell) return `cell ${toHex(value.hash())}`;
  if (value instanceof Slice) return textOf(new Builder().storeSlice(value.clone()).endCell());
  return String(value);
}
