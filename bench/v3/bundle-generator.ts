import { hashKey, indexId } from '#drivers/store/keys.js';
import { TransactionWriter } from '#drivers/store/stored-transaction.js';
import type { BlockRow, MessageRow, TraceAccountRow, TraceRow, TransactionRow } from '#drivers/store/tables.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { TableCell } from '#formats/cells/cell-table.js';
import { copyBits } from '#formats/cells/dict-label.js';
import { sha256 } from '#formats/cells/digests.js';
import { readTransaction } from '#services/indexer/rows/transaction-rows.js';
import { Population, TraceMix } from './population.js';
import type { Patch, Templates, TraceTemplate } from './templates.js';

/** Rows of one mc block bundle. */
export interface GeneratedBundle {
  readonly blocks: readonly BlockRow[];
  readonly transactions: readonly TransactionRow[];
  readonly messages: readonly MessageRow[];
  readonly traces: readonly TraceRow[];
  readonly trace_accounts: readonly TraceAccountRow[];
}

/** A trace under way. */
interface Trace {
  readonly template: TraceTemplate;
  readonly token: number;
  readonly accounts: readonly number[];
  readonly lts: bigint[];
  readonly nows: number[];
  /** Keys of the messages sent so far. */
  readonly sent: Set<bigint>;
  root: bigint;
  root_hash: Uint8Array;
  left: number;
}

const WHOLE_SHARD = -(1n << 63n);
const SHARD_SEQNO_AHEAD = 1_000;
const FIRST_TIME = 1_750_000_000;
const ROUNDS_PER_SECOND = 2.5;
const LT_PER_BUNDLE = 1_000_000n;
/** One mc block bundle of so many is a burst, with so many times the traces. */
const BURST = { every: 50, times: 5 };
const encoder = new TextEncoder();

/**
 * Makes bundles of transactions like recorded ones: the cells are theirs but for accounts, times, the transaction before, and
 * 64 bits of each body; hashes and keys are read from these cells as the indexer reads them.
 */
export class BundleGenerator {
  readonly #templates: Templates;
  readonly #mix: TraceMix;
  readonly #population: Population;
  readonly #random: () => number;
  readonly #tracesPerRound: number;
  /** The last mc block of the partition: no trace goes on behind it. */
  readonly #last: number;
  readonly #writer = new TransactionWriter();
  readonly #pending = new Map<number, { readonly trace: Trace; readonly node: number }[]>();
  readonly #scratch = new Uint8Array(48);
  readonly #view = new DataView(this.#scratch.buffer);
  #token: number;

  /** For each account: lt and hash of its newest transaction. */
  readonly lastLts: BigInt64Array;
  readonly lastHashes: Uint8Array;

  constructor(
    templates: Templates,
    { mix, population, random }: { mix: TraceMix; population: Population; random: () => number },
    { perRound, last, firstToken }: { perRound: number; last: number; firstToken: number },
    before: { readonly lts: BigInt64Array; readonly hashes: Uint8Array },
  ) {
    this.#templates = templates;
    this.#mix = mix;
    this.#population = population;
    this.#random = random;
    this.#tracesPerRound = perRound / mix.meanNodes / (1 + (BURST.times - 1) / BURST.every);
    this.#last = last;
    this.#token = firstToken;
    this.lastLts = before.lts;
    this.lastHashes = before.hashes;
  }

  get nextToken(): number {
    return this.#token;
  }

  bundle(mc_seqno: number): GeneratedBundle {
    const wanted = this.#tracesPerRound * (mc_seqno % BURST.every === 0 ? BURST.times : 1);
    const count = Math.floor(wanted + this.#random());
    for (let i = 0; i < count; i++) this.#begin(mc_seqno);
    const due = this.#pending.get(mc_seqno) ?? [];
    this.#pending.delete(mc_seqno);
    const out = { transactions: [], messages: [], traces: [], trace_accounts: [] } as {
      transactions: TransactionRow[];
      messages: MessageRow[];
      traces: TraceRow[];
      trace_accounts: TraceAccountRow[];
    };
    let lt = BigInt(mc_seqno) * LT_PER_BUNDLE + 10n;
    for (const [ordinal, { trace, node }] of due.entries()) {
      trace.lts[node] = lt;
      trace.nows[node] = timeOf(mc_seqno);
      this.#transaction(trace, node, indexId(mc_seqno, ordinal), mc_seqno, out);
      lt += BigInt(2 + trace.template.nodes[node]!.outs);
      if (--trace.left === 0) this.#end(trace, mc_seqno, out);
    }
    return { blocks: this.#blocks(mc_seqno, due.length), ...out };
  }

  #begin(mc_seqno: number): void {
    const template = this.#mix.next();
    const { nodes } = template;
    if (mc_seqno + Math.max(...nodes.map(({ delay }) => delay)) > this.#last) return;
    const trace: Trace = {
      template,
      token: this.#token++,
      accounts: this.#population.choose(template.accounts),
      lts: [],
      nows: [],
      sent: new Set(),
      root: 0n,
      root_hash: new Uint8Array(0),
      left: nodes.length,
    };
    for (const [node, { delay }] of nodes.entries()) {
      const list = this.#pending.get(mc_seqno + delay);
      if (list === undefined) this.#pending.set(mc_seqno + delay, [{ trace, node }]);
      else list.push({ trace, node });
    }
  }

  #transaction(
    trace: Trace,
    at: number,
    id: bigint,
    mc_seqno: number,
    out: { transactions: TransactionRow[]; messages: MessageRow[] },
  ): void {
    const node = trace.template.nodes[at]!;
    const account = trace.accounts[node.account]!;
    const boc = node.boc.slice();
    for (const patch of node.patches) this.#patch(boc, patch, trace, account);
    const { table, index } = parseBocRoot(boc) as TableCell;
    const facts = {
      table,
      mc_seqno,
      workchain: 0,
      shard: WHOLE_SHARD,
      seqno: mc_seqno + SHARD_SEQNO_AHEAD,
      gen_utime: timeOf(mc_seqno),
      start_lt: BigInt(mc_seqno) * LT_PER_BUNDLE,
      global_version: this.#templates.globalVersion,
    };
    const of = { account: this.#population.address(account).subarray(1), account_key: this.#population.keyOf(account) };
    const row = readTransaction(facts, index, id, of, this.#writer, out.messages);
    if (row.in_msg?.kind === 'internal' && !trace.sent.has(row.in_msg_key!))
      throw new Error('a message changed on its way');
    for (const { hash } of row.out_msgs) trace.sent.add(hashKey(hash));
    if (at === 0) {
      trace.root = id;
      trace.root_hash = row.hash.slice();
    }
    this.lastLts[account] = row.lt;
    this.lastHashes.set(row.hash, account * 32);
    out.transactions.push({ ...row, trace_root: trace.root, state_after: node.state_after });
  }

  #patch(boc: Uint8Array, patch: Patch, trace: Trace, account: number): void {
    const { bit } = patch;
    const view = this.#view;
    switch (patch.field) {
      case 'account':
        copyBits(boc, bit, this.#population.ids, trace.accounts[patch.account]! * 256, 256);
        return;
      case 'lt':
        view.setBigUint64(0, trace.lts[patch.node]! + patch.plus);
        copyBits(boc, bit, this.#scratch, 0, 64);
        return;
      case 'now':
        view.setUint32(0, trace.nows[patch.node]!);
        copyBits(boc, bit, this.#scratch, 0, 32);
        return;
      case 'previous':
        copyBits(boc, bit, this.lastHashes, account * 256, 256);
        view.setBigUint64(0, this.lastLts[account]!);
        copyBits(boc, bit + 256, this.#scratch, 0, 64);
        return;
      case 'token':
        if (patch.isText) encoder.encodeInto(String(trace.token).padStart(8, '0'), this.#scratch);
        else view.setBigUint64(0, BigInt(trace.token));
        copyBits(boc, bit, this.#scratch, 0, 64);
    }
  }

  #end(trace: Trace, mc_seqno: number, out: { traces: TraceRow[]; trace_accounts: TraceAccountRow[] }): void {
    const { template, root, root_hash, lts, nows, accounts } = trace;
    const end_lt = lts.reduce((a, b) => (a > b ? a : b));
    const end_utime = Math.max(...nows);
    out.traces.push({
      root,
      trace_id: root_hash,
      start_lt: lts[0]!,
      start_utime: nows[0]!,
      end_lt,
      end_utime,
      mc_seqno_end: mc_seqno,
      nodes: template.nodes.length,
      edges: template.edges,
      pending_edges: 0,
      state: 0,
    });
    const keys = new Set(template.nodes.map(({ account }) => this.#population.keyOf(accounts[account]!)));
    for (const account_key of keys) out.trace_accounts.push({ root, account_key, end_lt, end_utime });
  }

  #blocks(mc_seqno: number, tx_count: number): BlockRow[] {
    const { masterchainBlock, shardBlock } = this.#templates;
    const start_lt = BigInt(mc_seqno) * LT_PER_BUNDLE;
    const shared = { gen_utime: timeOf(mc_seqno), start_lt, end_lt: start_lt + LT_PER_BUNDLE - 1n };
    const seqno = mc_seqno + SHARD_SEQNO_AHEAD;
    const hash = (what: string) => sha256(encoder.encode(`${what} ${mc_seqno}`));
    return [
      {
        ...masterchainBlock,
        ...shared,
        id: indexId(mc_seqno, 0),
        seqno: mc_seqno,
        root_hash: hash('masterchain root'),
        file_hash: hash('masterchain file'),
        tx_count: 0,
        prev_blocks: [-1n, WHOLE_SHARD, BigInt(mc_seqno - 1)],
        shard_tops: [0n, WHOLE_SHARD, BigInt(seqno)],
      },
      {
        ...shardBlock,
        ...shared,
        id: indexId(mc_seqno, 1),
        seqno,
        root_hash: hash('shard root'),
        file_hash: hash('shard file'),
        master_ref_seqno: mc_seqno - 1,
        tx_count,
        prev_blocks: [0n, WHOLE_SHARD, BigInt(seqno - 1)],
      },
    ];
  }
}

/** Those templates whose messages arrive as they were sent: a cell may be a body in one transaction, and part of one in another. */
export function soundTemplates(templates: Templates): Templates {
  const sound = templates.traces.filter((trace) => {
    const one = { ...templates, traces: [trace] };
    const random = () => 0.5;
    const mix = new TraceMix(one, random);
    const population = new Population(mix, templates.kinds.length, 0, random);
    const before = { lts: new BigInt64Array(population.size), hashes: new Uint8Array(population.size * 32) };
    const limits = { perRound: mix.meanNodes * 2, last: 100, firstToken: 1 };
    const generator = new BundleGenerator(one, { mix, population, random }, limits, before);
    try {
      for (let mc_seqno = 1; mc_seqno <= 100; mc_seqno++) generator.bundle(mc_seqno);
      return generator.nextToken > 1;
    } catch {
      return false;
    }
  });
  return { ...templates, traces: sound };
}

/** Unix time of a masterchain block. */
export function timeOf(mc_seqno: number): number {
  return FIRST_TIME + Math.floor(mc_seqno / ROUNDS_PER_SECOND);
}
