import { networkEmulation } from '#app/service/emulation.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell, Slice } from '#formats/cells/slice.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { buildChain, type ChainBlock } from '#localnet/replay/recorded-chain.js';
import { readFolder, sortContent } from '#localnet/replay/recorded-folder.js';
import type { BlockTime, EmulatedTrace } from '#services/emulation/emulated-trace.js';
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
  /** A message waited in the queue of its own shard: the emulation receives it in the block that sent it. */
  readonly hasWaited: boolean;
}

/** What emulations of recorded traces are. */
interface Counts {
  traces: number;
  transactions: number;
  /** All transactions have the recorded hashes. */
  same: number;
  /** A message waited, so lt and hashes differ; accounts, messages, exit codes and states do not. */
  alike: number;
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
      const { traces, transactions, same, alike, disturbed, actions } = counts;
      say(
        `${name}: ${traces} traces with ${transactions} transactions: ${same} with the recorded hashes, ${alike} alike but for a message that waited; ` +
          `${actions} with the same actions; ${disturbed} others met messages of other traces; ${found.length} differ`,
      );
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
  const counts: Counts = { traces: 0, transactions: 0, same: 0, alike: 0, disturbed: 0, actions: 0 };
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
            blockTime: ({ workchain, shard }, hop) => trace.blocks.get(`${hop} ${workchain}:${shard}`)?.time,
          },
          options,
        );
        const problem = compare(trace, emulated, counts);
        if (problem !== null) problems.push(`${name}: ${problem}`);
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

/** @returns what differs; null: nothing that should not */
function compare(trace: RealTrace, { transactions, is_incomplete }: EmulatedTrace, counts: Counts): string | null {
  if (is_incomplete) return 'it is cut';
  const hashes = (cells: readonly { readonly cell: Cell }[]) => cells.map(({ cell }) => toHex(cell.hash())).sort();
  if (hashes(trace.transactions).join() === hashes(transactions).join()) {
    counts.same++;
    return null;
  }
  const [was, is] = [shapeOf(trace.transactions), shapeOf(transactions)];
  if (trace.hasWaited && was.join() === is.join()) {
    counts.alike++;
    return null;
  }
  const missing = was.filter((each) => !is.includes(each));
  const [first] = missing;
  return first === undefined
    ? `the same ${was.length} transactions with other hashes`
    : `${missing.length} of ${was.length} transactions differ: ${first}`;
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
  for (const block of [...masterchain, ...shards]) {
    for (const transaction of transactionsOf(block)) {
      byHash.set(toHex(transaction.cell.hash()), transaction);
      const { in_msg } = transaction.value;
      if (in_msg !== null) byMessage.set(toHex(in_msg.cell.hash()), transaction);
    }
  }
  return { byHash, byMessage };
}

function* transactionsOf({ id, bytes, mc_seqno }: ChainBlock): Generator<RealTransaction> {
  const { info, extra } = decodeCell(Block, parseBocRoot(bytes));
  const { gen_utime: now, start_lt } = info.value;
  const { account_blocks, rand_seed } = extra.value;
  const shard = `${id.workchain}:${id.shard}`;
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

const MOST_TRANSACTIONS = 256;

/** The block of a transaction, with its lt as the least one: other traces may have come before it. */
function startingWith({ block, value: { lt } }: RealTransaction): RealBlock {
  return { ...block, time: { ...block.time, lt } };
}

function traceOf(
  root: RealTransaction,
  message: Cell,
  byMessage: ReadonlyMap<string, RealTransaction>,
): RealTrace | null {
  const reached = [{ transaction: root, hop: 0 }];
  const blocks = new Map([[`0 ${root.block.shard}`, startingWith(root)]]);
  let hasWaited = false;
  for (const { transaction, hop } of reached) {
    for (const [, { cell, value }] of transaction.value.out_msgs) {
      if (value.info.kind !== 'int_msg_info') continue;
      const received = byMessage.get(toHex(cell.hash()));
      if (received === undefined || reached.length >= MOST_TRANSACTIONS) return null;
      const isHere = received.block.shard === transaction.block.shard;
      const next = isHere ? hop : hop + 1;
      if (isHere && received.block !== transaction.block) hasWaited = true;
      const key = `${next} ${received.block.shard}`;
      const known = blocks.get(key);
      if (known === undefined) blocks.set(key, startingWith(received));
      else if (known.name !== received.block.name) hasWaited = true;
      reached.push({ transaction: received, hop: next });
    }
  }
  return { message, transactions: reached.map(({ transaction }) => transaction), blocks, hasWaited };
}
