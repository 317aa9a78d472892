import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { inboundKind, type TraceTransaction } from '#domain/traces/trace-assembler.js';
import { traceNodeJson, traceTree } from '#domain/traces/trace-tree.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { compareBytes, toBase64, toHex } from '#kernel/bytes.js';
import { Random } from '#test/fuzz/random.js';
import { transactionCells } from '#test/support/block-transactions.js';
import { type BlockFacts, chainFacts } from '#test/support/chain-facts.js';
import { type StoredTrace, TraceStore } from '#test/support/trace-store.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const folder = vectorPath('collection/recorded-net');

/** Blocks by the masterchain block that commits them, by its seqno. */
function roundsOf(chain: string): BlockFacts[][] {
  const { masterchain, shards } = chainFacts(chain);
  const places = new Map(shards.map(({ id }, at) => [toHex(id.root_hash), at]));
  const bundles: BlockFacts[][] = [];
  let from = 0;
  for (const block of masterchain.slice(1)) {
    const to = Math.max(from, ...block.tops.map(({ root_hash }) => 1 + (places.get(toHex(root_hash)) ?? -1)));
    bundles[block.id.seqno] = [block, ...shards.slice(from, to)];
    from = to;
  }
  return bundles;
}

interface OrderedTransaction extends TraceTransaction {
  readonly workchain: number;
  readonly account: Uint8Array;
}

function transactionsOf(bundle: readonly BlockFacts[], mc_seqno: number): TraceTransaction[] {
  const list: Omit<OrderedTransaction, 'id'>[] = [];
  for (const { id, bytes, start_lt } of bundle) {
    const { workchain } = isMasterchain(id) ? { workchain: -1 } : id;
    for (const cell of transactionCells(bytes)) {
      const { lt, now, account_addr, in_msg, out_msgs } = decodeCell(Transaction, cell);
      const sent = Array.from(out_msgs, ([, message]) => message);
      list.push({
        hash: cell.hash(),
        lt,
        now,
        mc_seqno,
        workchain,
        account: account_addr,
        account_key: createHash('sha256')
          .update(new Uint8Array([workchain]))
          .update(account_addr)
          .digest()
          .readBigInt64BE(),
        in_msg: in_msg === null ? null : { hash: in_msg.cell.hash(), kind: inboundKind(in_msg.value.info, start_lt) },
        out_msgs: sent.map(({ cell, value }) => ({
          hash: cell.hash(),
          external: value.info.kind === 'ext_out_msg_info',
        })),
      });
    }
  }
  return list
    .sort((a, b) => Number(a.lt - b.lt) || a.workchain - b.workchain || compareBytes(a.account, b.account))
    .map((each, ordinal) => ({ ...each, id: (BigInt(mc_seqno) << 24n) | BigInt(ordinal) }));
}

function* csvRows(path: string): Generator<Record<string, string>> {
  const [head, ...lines] = Buffer.from(readBytes(path)).toString().trimEnd().split('\n');
  const names = head!.split(',');
  for (const line of lines) yield Object.fromEntries(line.split(',').map((text, at) => [names[at]!, text]));
}

/** The columns of the table of the other index. */
function columns({ trace_id, state, ...trace }: StoredTrace): Record<string, string> {
  const { mc_seqno_start, mc_seqno_end, start_lt, start_utime, end_lt, end_utime, pending_edges, edges, nodes } = trace;
  const numbers = { mc_seqno_start, mc_seqno_end, start_lt, start_utime, end_lt, end_utime };
  const counts = { pending_edges_: pending_edges, edges_: edges, nodes_: nodes };
  const texts = Object.entries({ ...numbers, ...counts }).map(([name, value]) => [name, String(value)] as const);
  return { trace_id: toBase64(trace_id), state, ...Object.fromEntries(texts) };
}

describe('traces of the recorded network', () => {
  let bundles: TraceTransaction[][];
  let head: number;

  beforeAll(() => {
    head = Number(
      Buffer.from(readBytes(`${folder}/v3-tables/HEAD.txt`))
        .toString()
        .split('|')[1],
    );
    bundles = roundsOf(`${folder}/chain`)
      .slice(0, head + 1)
      .map(transactionsOf);
  });

  function inOneGo(): TraceStore {
    const store = new TraceStore();
    store.add(bundles.flat(), false);
    return store;
  }

  it('are those of the other index, all of them', () => {
    const expected = new Map<string, Record<string, string>>();
    for (const { external_hash: _, external_hash_norm: __, classification_state: ___, ...row } of csvRows(
      `${folder}/v3-tables/traces.csv.br`,
    )) {
      expected.set(row.trace_id!, row);
    }
    expect(expected.size).toBeGreaterThan(4000);
    const { traces, opened, orphans } = inOneGo().content();
    expect(orphans).toEqual([]);
    expect(opened).toEqual([]);
    const found = new Map(traces.map((trace) => [toBase64(trace.trace_id), columns(trace)]));
    expect(found).toEqual(expected);
  });

  it('give each transaction the trace that the other index gives it', () => {
    const { traces, roots } = inOneGo().content();
    const ids = new Map(traces.map(({ root, trace_id }) => [root, toBase64(trace_id)]));
    const hashes = new Map(bundles.flat().map(({ id, hash }) => [id, toBase64(hash)]));
    const found = new Map(roots.map(([id, root]) => [hashes.get(id)!, ids.get(root)!]));
    const expected = new Map<string, string>();
    for (const { hash, trace_id } of csvRows(`${folder}/v3-tables/transactions.csv.br`)) expected.set(hash!, trace_id!);
    expect(expected.size).toBeGreaterThan(10_000);
    expect(found).toEqual(expected);
  });

  it.each(['1', '2', '3'])('are the same for batches in any order (%s)', (seed) => {
    const random = new Random(seed);
    const batches: TraceTransaction[][] = [];
    for (let at = 0; at < bundles.length; ) {
      const size = 1 + random.below(80);
      batches.push(bundles.slice(at, at + size).flat());
      at += size;
    }
    for (let at = batches.length - 1; at > 0; at--) {
      const other = random.below(at + 1);
      [batches[at], batches[other]] = [batches[other]!, batches[at]!];
    }
    const store = new TraceStore();
    for (const batch of batches) store.add(batch, random.below(2) === 0);
    expect(store.content()).toEqual(inOneGo().content());
  });

  it('have senders before receivers in the order of ids, and a less lt', () => {
    const senders = new Map<string, TraceTransaction>();
    let links = 0;
    let links_of_one_round = 0;
    for (const transaction of bundles.flat()) {
      const { in_msg } = transaction;
      if (in_msg?.kind === 'internal') {
        const sender = senders.get(toHex(in_msg.hash));
        expect(sender, `sender of what ${toHex(transaction.hash)} received`).toBeDefined();
        expect(sender!.lt < transaction.lt, toHex(transaction.hash)).toBe(true);
        links++;
        if (sender!.mc_seqno === transaction.mc_seqno) links_of_one_round++;
      }
      for (const { hash, external } of transaction.out_msgs) if (!external) senders.set(toHex(hash), transaction);
    }
    expect(links).toBeGreaterThan(6000);
    expect(links_of_one_round).toBeGreaterThan(2000);
  });

  it('have the trees that the other index answers', () => {
    let compared = 0;
    for (const line of Buffer.from(readBytes(`${folder}/v3-traces.jsonl.br`))
      .toString()
      .trimEnd()
      .split('\n')) {
      const { trace_id, trace, transactions_order, transactions } = JSON.parse(line) as RecordedTrace;
      const made = traceTree(
        Object.values(transactions).map(({ hash, lt, account, in_msg, out_msgs }) => ({
          hash,
          lt: BigInt(lt),
          account,
          in_msg_hash: in_msg?.hash ?? null,
          out_msg_hashes: out_msgs.map((message) => message.hash),
        })),
      );
      expect(made.warning, trace_id).toBeNull();
      expect(made.transactions_order, trace_id).toEqual(transactions_order);
      expect(traceNodeJson(made.trace!), trace_id).toBe(JSON.stringify(trace));
      compared++;
    }
    expect(compared).toBeGreaterThan(4000);
  });
});

interface RecordedTrace {
  readonly trace_id: string;
  readonly trace: unknown;
  readonly transactions_order: readonly string[];
  readonly transactions: Readonly<
    Record<
      string,
      {
        readonly hash: string;
        readonly lt: string;
        readonly account: string;
        readonly in_msg: { readonly hash: string } | null;
        readonly out_msgs: readonly { readonly hash: string }[];
      }
    >
  >;
}
