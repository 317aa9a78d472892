import { networkEmulation } from '#app/service/apis.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, Slice } from '#formats/cells/slice.js';
import { isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { buildChain, type ChainBlock } from '#localnet/replay/recorded-chain.js';
import { readFolder, sortContent } from '#localnet/replay/recorded-folder.js';
import {
  type BlockTime,
  type EmulatedTrace,
  MOST_EMULATED_DEPTH,
  MOST_EMULATED_TRANSACTIONS,
} from '#services/emulation/emulated-trace.js';
import { replayedContracts } from '#test/support/replayed-contracts.js';
import { vectorPath } from '#test/support/vector-files.js';

/** A block with what its transactions depend on. */
interface RealBlock {
  readonly name: string;
  readonly shard: string;
  readonly mc_seqno: number;
  readonly time: Required<BlockTime>;
}

interface RealTransaction {
  readonly cell: Cell;
  readonly value: Transaction;
  readonly account: Address;
  readonly block: RealBlock;
}

interface RealTrace {
  readonly message: Cell;
  readonly transactions: readonly RealTransaction[];
  /** The first block of the trace in a shard, by the hops to it. */
  readonly blocks: ReadonlyMap<string, RealBlock>;
  /** Messages from the root to the deepest transaction. */
  readonly depth: number;
  /** A message waited in the queue of its own shard: the emulation receives it in the block that sent it. */
  readonly hasWaited: boolean;
}

/** Why transactions of an emulation have other lt, fees and hashes than the recorded ones, and nothing else that differs. */
const REASONS = {
  waited: 'a message waited in the queue of its own shard',
  resharded: 'a shard was split or merged after the state that the emulation began with',
  currencies: 'a message with extra currencies was bounced (the emulator charges it otherwise, see src/drivers/tvm)',
} as const;
type Reason = keyof typeof REASONS;

/** What emulations of recorded traces are. */
interface Counts {
  traces: number;
  transactions: number;
  /** All transactions have the recorded hashes. */
  same: number;
  /** Others whose accounts, bodies, exit codes and states are the recorded ones. */
  readonly alike: Record<Reason, number>;
  /** Begin as recorded and end at a limit of emulations. */
  cut: number;
  /** Another message changed an account of the trace after the state that the emulation began with. */
  disturbed: number;
  actions: number;
}

const CONCURRENCY = 4;
const DEADLINE_MS = 60_000;

/**
 * Emulates recorded traces from the state before them with their own times and seeds, and compares transactions and actions.
 *
 * @param most traces of each chain
 * @returns what is not as it was
 */
export async function emulateRecordedTraces(most: number, say: (line: string) => void): Promise<readonly string[]> {
  const tvm = new TvmPool({ workers: 2, maxWaiting: 10_000, queueTimeoutMs: 600_000 }, { clock: systemClock });
  await tvm.start();
  try {
    const problems: string[] = [];
    for (const name of ['recorded-net', 'recorded-live']) {
      const { counts, problems: found } = await emulateChain(vectorPath(`collection/${name}/chain`), most, tvm);
      const { traces, transactions, same, alike, cut, disturbed, actions } = counts;
      say(`${name}: ${traces} traces with ${transactions} transactions: ${same} with the recorded hashes`);
      for (const [reason, text] of Object.entries(REASONS)) say(`  ${alike[reason as Reason]} alike: ${text}`);
      say(`  ${cut} cut at a limit; ${actions} with the same actions; ${found.length} differ`);
      say(`  ${disturbed} others met messages of other traces`);
      problems.push(...found.map((problem) => `${name}: ${problem}`));
    }
    return problems;
  } finally {
    await tvm.close();
  }
}

async function emulateChain(folder: string, most: number, tvm: TvmPool) {
  const { chain, serviceOver } = replayedContracts(folder, tvm);
  const contracts = serviceOver({ cpuMs: DEADLINE_MS, traceCpuMs: DEADLINE_MS, deadlineMs: DEADLINE_MS });
  const emulation = networkEmulation({ chain, contracts }, []);
  const options = { deadlineMs: DEADLINE_MS };
  const counts: Counts = {
    ...{ traces: 0, transactions: 0, same: 0, cut: 0, disturbed: 0, actions: 0 },
    alike: { waited: 0, resharded: 0, currencies: 0 },
  };
  const problems: string[] = [];
  const real = realTransactions(folder);
  const waiting = tracesOf(real);
  const stride = Math.max(1, Math.floor(waiting.length / most));
  const wanted = waiting.filter((_, i) => i % stride === 0).slice(0, most);
  const next = async (): Promise<void> => {
    for (let trace = wanted.pop(); trace !== undefined; trace = wanted.pop()) {
      const [root] = trace.transactions;
      const mc_seqno = root!.block.mc_seqno - 1;
      if (mc_seqno < 1) continue;
      if (isDisturbed(trace, mc_seqno, real)) {
        counts.disturbed++;
        continue;
      }
      const name = `${toHex(root!.cell.hash())} in masterchain block ${root!.block.mc_seqno}`;
      counts.traces++;
      counts.transactions += trace.transactions.length;
      try {
        const emulated = await emulation.emulateTrace(
          {
            ...{ message: trace.message, mc_seqno, rand_seed: root!.block.time.rand_seed },
            blockTime: (shard, hop) => trace.blocks.get(`${hop} ${nameOfShard(shard)}`)?.time,
          },
          options,
        );
        const reason = reasonOf(trace, real.shards.get(mc_seqno)!);
        const problem = compare(trace, emulated, reason, counts);
        if (problem !== null) problems.push(`${name}: ${problem}`);
        else if (emulated.is_incomplete) counts.cut++;
        else if (await hasSameActions(emulation, trace, emulated)) counts.actions++;
        else problems.push(`${name}: other actions`);
      } catch (error) {
        problems.push(`${name}: ${String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, next));
  return { counts, problems };
}

/**
 * @param reason why hashes may differ
 * @returns what differs; null: nothing that should not
 */
function compare(trace: RealTrace, emulated: EmulatedTrace, reason: Reason | null, counts: Counts): string | null {
  const { transactions, is_incomplete } = emulated;
  const hashes = (cells: readonly { readonly cell: Cell }[]) => cells.map(({ cell }) => toHex(cell.hash())).sort();
  const [was, is] = [shapeOf(trace.transactions), shapeOf(transactions)];
  if (is_incomplete) {
    const isAtLimit = trace.depth >= MOST_EMULATED_DEPTH || trace.transactions.length + 1 >= MOST_EMULATED_TRANSACTIONS;
    if (!isAtLimit) return `it is cut after ${transactions.length} of ${was.length}`;
    const [other] = is.filter((each) => !was.includes(each));
    return other === undefined ? null : `it is cut, and was never ${other}`;
  }
  if (hashes(trace.transactions).join() === hashes(transactions).join()) {
    counts.same++;
    return null;
  }
  const missing = was.filter((each) => !is.includes(each));
  const [first] = missing;
  if (first !== undefined) return `${missing.length} of ${was.length} transactions differ: ${first}`;
  if (was.join() !== is.join()) return `${is.length} transactions instead of ${was.length}`;
  if (reason === null) return `the same ${was.length} transactions with other hashes`;
  counts.alike[reason]++;
  return null;
}

/** @param shards those of the state that the emulation begins with */
function reasonOf({ transactions, hasWaited }: RealTrace, shards: ReadonlySet<string>): Reason | null {
  if (transactions.some(({ block }) => !shards.has(block.shard))) return 'resharded';
  if (transactions.some(hasBouncedCurrencies)) return 'currencies';
  return hasWaited ? 'waited' : null;
}

function hasBouncedCurrencies({ value: { out_msgs } }: RealTransaction): boolean {
  return [...out_msgs].some(([, { value }]) => {
    const { info } = value;
    return info.kind === 'int_msg_info' && info.bounced && [...info.value.other].length > 0;
  });
}

/** Transactions without what lt changes. */
function shapeOf(transactions: readonly { readonly cell: Cell; readonly account: Address }[]): readonly string[] {
  return transactions
    .map(({ cell, account }) => {
      const { description, outmsg_cnt, end_status, in_msg } = decodeCell(Transaction, cell);
      const { value } = description;
      const compute = 'compute_ph' in value ? value.compute_ph : null;
      const ran = compute?.kind === 'tr_phase_compute_vm' ? compute.exit_code : (compute?.reason ?? null);
      const body = in_msg === null ? null : bodyText(in_msg.value.body.value);
      return [account.toRaw(), body, outmsg_cnt, end_status, ran].join(' ');
    })
    .sort();
}

/** Its first bits. */
function bodyText(body: Cell | Slice): string {
  const slice = body instanceof Slice ? body.clone() : openCell(body);
  return `${slice.remainingBits} ${slice.loadUintBig(Math.min(slice.remainingBits, 64)).toString(16)}`;
}

async function hasSameActions(
  emulation: ReturnType<typeof networkEmulation>,
  trace: RealTrace,
  { transactions, mc_seqno }: EmulatedTrace,
): Promise<boolean> {
  const options = { deadlineMs: DEADLINE_MS };
  const last = Math.max(...trace.transactions.map(({ block }) => block.mc_seqno));
  const real = trace.transactions.map(({ cell, account, block }) => ({
    ...{ cell, account, mc_seqno: block.mc_seqno, before: null, after: null },
  }));
  const [was, is] = await Promise.all([
    emulation.meaningOf({ transactions: real, mc_seqno: last }, options),
    emulation.meaningOf({ transactions, mc_seqno }, options),
  ]);
  const text = ({ actions }: typeof was) => actions.map(({ type, success }) => `${type} ${success}`).sort();
  return text(was).join() === text(is).join();
}

/** Whether an account of a trace has another transaction between the state of a masterchain block and its own ones. */
function isDisturbed(
  { transactions }: RealTrace,
  mc_seqno: number,
  { byHash }: ReturnType<typeof realTransactions>,
): boolean {
  const own = new Set(transactions.map(({ cell }) => toHex(cell.hash())));
  return transactions.some(({ value }) => {
    const key = toHex(value.prev_trans_hash);
    return !own.has(key) && (byHash.get(key)?.block.mc_seqno ?? 0) > mc_seqno;
  });
}

function realTransactions(folder: string) {
  const { masterchain, shards } = buildChain(sortContent(readFolder(folder)), null);
  const byHash = new Map<string, RealTransaction>();
  const byMessage = new Map<string, RealTransaction>();
  const shardsOf = ({ id, shards: tops }: ChainBlock) => [id, ...tops].map(nameOfShard);
  const shardsBySeqno = new Map(masterchain.map((block) => [block.id.seqno, new Set(shardsOf(block))]));
  for (const block of [...masterchain, ...shards]) {
    for (const transaction of transactionsOf(block)) {
      byHash.set(toHex(transaction.cell.hash()), transaction);
      const { in_msg } = transaction.value;
      if (in_msg !== null) byMessage.set(toHex(in_msg.cell.hash()), transaction);
    }
  }
  return { byHash, byMessage, shards: shardsBySeqno };
}

function nameOfShard({ workchain, shard }: Shard): string {
  return `${workchain}:${shard}`;
}

function* transactionsOf({ id, bytes, mc_seqno }: ChainBlock): Generator<RealTransaction> {
  const { info, extra } = decodeCell(Block, parseBocRoot(bytes));
  const { gen_utime: now, start_lt } = info.value;
  const { account_blocks, rand_seed } = extra.value;
  const shard = nameOfShard(id);
  const name = `${shard} ${id.seqno}`;
  const block = {
    ...{ name, shard, mc_seqno: isMasterchain(id) ? id.seqno : mc_seqno },
    time: { lt: start_lt + 1n, now, rand_seed },
  };
  for (const [account_addr, { transactions }] of account_blocks.value) {
    const account = Address.ofParts(id.workchain, account_addr);
    for (const [, { cell }] of transactions) yield { cell, value: decodeCell(Transaction, cell), account, block };
  }
}

/** All traces that began with an external-in message and are whole, by masterchain block. */
function tracesOf({ byHash, byMessage }: ReturnType<typeof realTransactions>): RealTrace[] {
  const traces: RealTrace[] = [];
  for (const root of byHash.values()) {
    const message = root.value.in_msg;
    if (message?.value.info.kind !== 'ext_in_msg_info') continue;
    const trace = traceOf(root, message.cell, byMessage);
    if (trace !== null) traces.push(trace);
  }
  return traces.sort((a, b) => a.transactions[0]!.block.mc_seqno - b.transactions[0]!.block.mc_seqno);
}

/** The block of a transaction, with its lt as the least one: other traces may have come before it. */
function startingWith({ block, value: { lt } }: RealTransaction): RealBlock {
  return { ...block, time: { ...block.time, lt } };
}

function traceOf(
  root: RealTransaction,
  message: Cell,
  byMessage: ReadonlyMap<string, RealTransaction>,
): RealTrace | null {
  const reached = [{ transaction: root, hop: 0, depth: 0 }];
  const blocks = new Map([[`0 ${root.block.shard}`, startingWith(root)]]);
  let hasWaited = false;
  for (const { transaction, hop, depth } of reached) {
    for (const [, { cell, value }] of transaction.value.out_msgs) {
      if (value.info.kind !== 'int_msg_info') continue;
      const received = byMessage.get(toHex(cell.hash()));
      if (received === undefined || reached.length >= MOST_EMULATED_TRANSACTIONS) return null;
      const isHere = received.block.shard === transaction.block.shard;
      const next = isHere ? hop : hop + 1;
      if (isHere && received.block !== transaction.block) hasWaited = true;
      const key = `${next} ${received.block.shard}`;
      const known = blocks.get(key);
      if (known === undefined) blocks.set(key, startingWith(received));
      else if (known.name !== received.block.name) hasWaited = true;
      reached.push({ transaction: received, hop: next, depth: depth + 1 });
    }
  }
  const depth = Math.max(...reached.map((each) => each.depth));
  return { message, transactions: reached.map(({ transaction }) => transaction), blocks, depth, hasWaited };
}
