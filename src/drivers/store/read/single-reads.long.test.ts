import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import type { IndexedTransaction, Page, StateSummary } from '#drivers/store/read/index-types.js';
import { decodeState } from '#drivers/store/stored-state.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { compareBytes, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import { IndexOracle, type TransactionFact } from '#test/support/index-oracle.js';
import { type IndexedChain, indexedChain, insert } from '#test/support/indexed-chain.js';

const FROM = 294;
const TO = 340;
const options = { signal: new AbortController().signal, timeoutMs: 30_000 };
const first: Page = { limit: 1000, offset: 0, sort: 'asc', cursor: null };

let chain: IndexedChain;
let oracle: IndexOracle;

beforeAll(async () => {
  chain = await indexedChain('vectors/dev-chain', FROM, TO, 20);
  oracle = new IndexOracle(chain);
});
afterAll(() => chain?.close());

/** All transactions, page by page. */
async function allTransactions(): Promise<IndexedTransaction[]> {
  const rows: IndexedTransaction[] = [];
  for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
    const page = await chain.reader.transactions({}, { ...first, limit: 300, cursor }, options);
    rows.push(...page.rows);
    cursor = page.next;
  }
  return rows;
}

/** A state without regard to the kind of its arrays of bytes. */
function shape(state: StateSummary | null) {
  if (state === null) return null;
  const { code_hash, data_hash, frozen_hash, ...rest } = state;
  return { ...rest, hashes: [code_hash, data_hash, frozen_hash].map((hash) => hash && toHex(hash)) };
}

describe('a transaction that is read', () => {
  it('has all its cells, place and trace', async () => {
    const rows = await allTransactions();
    expect(rows.length).toBe(oracle.transactions.length);
    const traceIds = new Map(chain.traces.map(({ root, trace_id }) => [root, toHex(trace_id)]));
    const facts = new Map(oracle.transactions.map((fact) => [fact.id, fact]));
    let shared = 0;
    for (const row of rows) {
      const { expected, row: written, mc_seqno, trace_root } = facts.get(row.id)!;
      const { cell } = row;
      expect(toHex(cell.hash())).toBe(expected.hash);
      expect(cell.levelMask).toBe(0);
      const shard = BigInt.asUintN(64, expected.shard);
      expect(row.block).toEqual({ workchain: expected.workchain, shard, seqno: expected.block_seqno });
      expect([row.mc_seqno, row.trace_root, row.global_version]).toEqual([mc_seqno, trace_root, 13]);
      expect(toHex(row.trace_id!)).toBe(traceIds.get(trace_root));
      if (written.boc[0] !== 0) shared++;
    }
    expect(shared).toBeGreaterThan(5);
  });

  it('has the states before and after it, where a block reports them', async () => {
    const none = toHex(new Builder().storeBit(false).endCell().hash());
    const facts = new Map(oracle.transactions.map((fact) => [fact.id, fact]));
    const byPlace = new Map(oracle.transactions.map((fact) => [`${fact.address}:${fact.expected.lt}`, fact]));
    const counts = { none: 0, known: 0, unknown: 0 };
    for (const row of await allTransactions()) {
      const fact = facts.get(row.id)!;
      const { state_update, prev_trans_lt } = decodeCell(Transaction, fact.expected.cell);
      const { old_hash, new_hash } = state_update.value;
      const before = byPlace.get(`${fact.address}:${prev_trans_lt}`);
      if (toHex(old_hash) === none) {
        expect(row.state_before?.status).toBe('nonexist');
        counts.none++;
      } else if (before?.row.state_after == null) {
        expect(row.state_before).toBeNull();
        counts.unknown++;
      } else {
        expect(toHex(before.row.state_hash)).toBe(toHex(old_hash));
        expect(shape(row.state_before)).toEqual(shape(decodeState(before.row.state_after)));
        counts.known++;
      }
      if (toHex(new_hash) === none) expect(row.state_after?.status).toBe('nonexist');
      else expect(shape(row.state_after)).toEqual(shape(fact.row.state_after && decodeState(fact.row.state_after)));
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(10);
  });

  it('has neighbours, which share a message with it', async () => {
    const ALL = { limit: 1_000, offset: 0, sort: 'asc' as 'asc' | 'desc' };
    const ids = (facts: Iterable<TransactionFact>) =>
      [...new Set(facts)]
        .sort((a, b) => Number(a.expected.lt - b.expected.lt) || Number(a.id - b.id))
        .map(({ id }) => id);
    let both = 0;
    for (const fact of oracle.transactions.filter((_, i) => i % 9 === 0)) {
      const parent = fact.in_msg?.sent_by ?? null;
      const children = fact.out_msgs.flatMap(({ received_by }) => (received_by === null ? [] : [received_by]));
      const read = async (direction?: 'in' | 'out', page: Partial<typeof ALL> = {}) =>
        (await chain.reader.adjacentTransactions(fact.hash, direction, { ...ALL, ...page }, options))!;
      const readIds = async (...asked: Parameters<typeof read>) => (await read(...asked)).rows.map(({ id }) => id);
      expect(await readIds('in')).toEqual(parent === null ? [] : [parent.id]);
      expect(await readIds('out')).toEqual(ids(children));
      const all = ids(parent === null ? children : [parent, ...children]);
      expect(await readIds()).toEqual(all);
      expect(await readIds(undefined, { offset: 1, limit: 2 })).toEqual(all.slice(1, 3));
      expect(await readIds(undefined, { sort: 'desc', limit: 2 })).toEqual(all.toReversed().slice(0, 2));
      const { rows, trace_roots } = await read(undefined, { offset: all.length });
      expect([rows, trace_roots.length > 0]).toEqual([[], all.length > 0]);
      if (parent !== null && children.length > 0) both++;
    }
    expect(both).toBeGreaterThan(10);
    expect(await chain.reader.adjacentTransactions(new Uint8Array(32), undefined, ALL, options)).toBeNull();
  });
});

describe('a trace that is read', () => {
  it('has its transactions by lt and account, unless there are too many', async () => {
    const traces = [...chain.traces].sort((a, b) => b.nodes - a.nodes).slice(0, 60);
    const roots = traces.map(({ root }) => root);
    const most = traces[5]!.nodes - 1;
    const found = await chain.reader.transactionsOfTraces(roots, most, options);
    expect([...found.keys()].sort()).toEqual([...roots].sort());
    for (const { root, nodes } of traces) {
      const members = oracle.transactions
        .filter(({ trace_root }) => trace_root === root)
        .sort(
          (a, b) =>
            Number(a.expected.lt - b.expected.lt) ||
            a.address.workchain - b.address.workchain ||
            compareBytes(a.address.hash, b.address.hash),
        );
      expect(members.length).toBe(nodes);
      expect(found.get(root)!.map(({ id }) => id)).toEqual(nodes > most ? [] : members.map(({ id }) => id));
    }
  });

  it('says what was counted of it', async () => {
    const { rows } = await chain.reader.traces({}, first, options);
    const known = new Map(chain.traces.map((trace) => [trace.root, trace]));
    expect(rows.length).toBe(known.size);
    for (const { classification_state, ...row } of rows) {
      const { accounts: _, ...trace } = known.get(row.root)!;
      expect(classification_state).toBe('unclassified');
      expect({ ...row, trace_id: toHex(row.trace_id) }).toEqual({ ...trace, trace_id: toHex(trace.trace_id) });
    }
  });
});

describe('a message that is read', () => {
  it('has the transactions that sent and received it; with a direction only that one', async () => {
    const facts = new Map(oracle.messages.map((fact) => [toHex(fact.hash), fact]));
    let both = 0;
    for (const direction of [undefined, 'in', 'out'] as const) {
      const { rows } = await chain.reader.messages({ direction }, first, options);
      expect(rows.length).toBeGreaterThan(100);
      for (const row of partOf(rows, 5)) {
        const { sent_by, received_by } = facts.get(toHex(row.hash))!;
        const hashOf = (side: { cell: Cell } | null) => side && toHex(side.cell.hash());
        expect(hashOf(row.sent_by)).toBe(direction === 'in' ? null : sent_by && toHex(sent_by.hash));
        expect(hashOf(row.received_by)).toBe(direction === 'out' ? null : received_by && toHex(received_by.hash));
        const teller = decodeCell(Transaction, (row.sent_by ?? row.received_by)!.cell);
        const cell = row.out_index === null ? teller.in_msg!.cell : teller.out_msgs.get(row.out_index)!.cell;
        expect(toHex(cell.hash())).toBe(toHex(row.hash));
        if (row.sent_by !== null && row.received_by !== null) both++;
      }
    }
    expect(both).toBeGreaterThan(FULL ? 100 : 20);
  });
});

describe('blocks', () => {
  it('at both ends of the index, and whether a masterchain block is in it', async () => {
    const head = (await chain.reader.extent(options))!;
    expect([head.first, head.last].map(({ workchain, seqno }) => [workchain, seqno])).toEqual([
      [-1, FROM],
      [-1, TO],
    ]);
    const has = (seqno: number) => chain.reader.hasMcBlock(seqno, options);
    expect(await Promise.all([FROM - 1, FROM, TO, TO + 1].map(has))).toEqual([false, true, true, false]);
  });

  it('say what their headers say', async () => {
    const { rows } = await chain.reader.blocks({}, first, options);
    const facts = new Map(oracle.blocks.map((block) => [toHex(block.root_hash), block]));
    expect(rows.length).toBe(facts.size);
    for (const row of rows) {
      const { info, mc_seqno, ...block } = facts.get(toHex(row.root_hash))!;
      expect([row.mc_seqno, row.workchain, row.shard, row.seqno]).toEqual([
        ...[mc_seqno, block.workchain, block.shard, block.seqno],
      ]);
      expect(toHex(row.file_hash)).toBe(toHex(block.file_hash));
      const { gen_utime, start_lt, end_lt, after_merge, before_split, after_split, want_merge, want_split, key_block } =
        info;
      const flags = { after_merge, before_split, after_split, want_merge, want_split, key_block };
      expect(row).toMatchObject({ gen_utime, start_lt, end_lt, ...flags, min_ref_mc_seqno: info.min_ref_mc_seqno });
      expect(row.prev_blocks[0]!.seqno).toBe(block.seqno - 1);
    }
  });

  it('of all shards as a masterchain block commits them', async () => {
    for (const seqno of [FROM + 10, TO]) {
      const rows = await chain.reader.shardState(seqno, options);
      const newest = new Map<string, number>();
      for (const block of oracle.blocks) if (block.mc_seqno <= seqno) newest.set(`${block.workchain}`, block.seqno);
      expect(rows.map(({ workchain, seqno }) => [String(workchain), seqno])).toEqual(
        [...newest].sort(([a], [b]) => Number(a) - Number(b)),
      );
    }
    expect(await chain.reader.shardState(TO + 1, options)).toEqual([]);
  });
});

describe('accounts', () => {
  const unknown = Address.ofParts(0, new Uint8Array(32).fill(5));

  it('are read in the order asked for, each once, with code', async () => {
    const addresses = [...new Map(oracle.transactions.map(({ address }) => [address.toRaw(), address])).values()];
    const asked = [unknown, ...addresses.slice(0, 30).reverse(), addresses[0]!];
    const rows = await chain.reader.accounts({ address: asked }, { boc: true }, options);
    expect(rows.map(({ address }) => address.toRaw())).toEqual(asked.slice(1, -1).map((address) => address.toRaw()));
    let codes = 0;
    for (const row of rows) {
      const last = oracle.transactions.filter(({ address }) => address.equals(row.address)).at(-1)!;
      expect(row.last_trans_lt).toBe(last.expected.lt);
      expect(toHex(row.state_hash)).toBe(last.expected.state_hash);
      if (row.code_boc !== null) {
        expect(toHex(parseBocRoot(row.code_boc).hash())).toBe(toHex(row.code_hash!));
        codes++;
      }
    }
    expect(codes).toBeGreaterThan(10);
    const code_hash = rows.find((row) => row.code_hash !== null)!.code_hash!;
    const same = await chain.reader.accounts({ address: asked, code_hash: [code_hash] }, { boc: false }, options);
    expect(same.map(({ address }) => address.toRaw())).toEqual(
      rows
        .filter((row) => row.code_hash && toHex(row.code_hash) === toHex(code_hash))
        .map(({ address }) => address.toRaw()),
    );
    expect(same.every(({ code_boc, data_boc }) => code_boc === null && data_boc === null)).toBe(true);
    const facts = await chain.reader.addressFacts(asked, { domains: false, tokens: false }, options);
    expect([...facts.accounts].map(([raw, { code_hash }]) => [raw, code_hash && toHex(code_hash)]).sort()).toEqual(
      rows.map(({ address, code_hash }) => [address.toRaw(), code_hash && toHex(code_hash)]).sort(),
    );
  });

  it('by balance, page by page', async () => {
    const { rows: known } = await chain.client.query('SELECT address, balance FROM accounts');
    for (const [sort, way] of [
      ['desc', 1],
      ['asc', -1],
    ] as const) {
      const expected = known
        .map(({ address, balance }) => ({ address: toHex(address), balance }))
        .sort(
          (a, b) => way * (a.balance === b.balance ? (a.address < b.address ? -1 : 1) : a.balance > b.balance ? -1 : 1),
        );
      const found: { address: string; balance: bigint }[] = [];
      for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
        const page = await chain.reader.topAccounts({ limit: 17, offset: 0, sort, cursor }, options);
        found.push(...page.rows.map(({ address, balance }) => ({ address: toHex(addressBytes(address)), balance })));
        cursor = page.next;
      }
      expect(found).toEqual(expected);
    }
  });
});

describe('a cursor', () => {
  it('of another query, or none at all, is refused', async () => {
    const { next } = await chain.reader.transactions({}, { ...first, limit: 3 }, options);
    const read = (cursor: string, filter = {}, sort: 'asc' | 'desc' = 'asc') =>
      chain.reader.transactions(filter, { ...first, sort, cursor }, options).then(
        () => 'none',
        (error) => (isTernError(error) ? error.code : String(error)),
      );
    expect(await read(next!, { workchain: 0 })).toBe('store/cursor');
    expect(await read(next!, {}, 'desc')).toBe('store/cursor');
    const bytes = Buffer.from(next!, 'base64url');
    for (const wrong of ['', '!', 'AAAA', next!.slice(0, 11), next!.repeat(40)])
      expect(await read(wrong)).toBe('store/cursor');
    for (const key of ['', '1', '1,2,3', '1,', 'z'.repeat(30), `${'z'.repeat(20)},1`, '1.5,2']) {
      const made = Buffer.concat([bytes.subarray(0, 8), Buffer.from(key)]).toString('base64url');
      expect(await read(made), key).toBe('store/cursor');
    }
  });
});

// Last, for it changes the tables.
describe('rows that only share a key with what is asked for', () => {
  it('are left out, and replaced by those behind', async () => {
    const [one, other] = [oracle.transactions.find(({ out_msgs }) => out_msgs.length > 1)!, oracle.transactions[3]!];
    const last = oracle.transactions.at(-1)!.id;
    const account_key = accountKey(addressBytes(one.address));
    const { rows } = await chain.client.query(
      'SELECT * FROM transactions WHERE account_key <> $1 AND id <> $2 ORDER BY id LIMIT 40',
      [account_key, other.id],
    );
    const decoys = rows.map((row, i) => ({
      ...row,
      id: last + 1n + BigInt(i),
      account_key,
      hash_key: hashKey(one.hash),
    }));
    const source = oracle.messages.find(({ source, sent_by }) => source !== null && sent_by !== null)!;
    const messages = (await chain.client.query('SELECT * FROM messages ORDER BY tx_id LIMIT 30')).rows.map((row) => ({
      ...{ ...row, msg_key: hashKey(source.hash), body_key: hashKey(source.body_hash), created_lt: source.created_lt },
      ...{ source_key: accountKey(addressBytes(source.source!)), created_at: source.created_at },
    }));
    await insert(chain.client, 'transactions', decoys);
    await insert(chain.client, 'messages', messages);
    for (const sort of ['asc', 'desc'] as const) {
      const page = { limit: 3, offset: 0, sort, cursor: null };
      for (const filter of [{ account: [one.address] }, { hash: [one.hash, other.hash] }]) {
        const found = await chain.reader.transactions(filter, page, options);
        expect(found.rows.map(({ id }) => String(id))).toEqual(oracle.transactionIds(filter, sort).slice(0, 3));
      }
      for (const filter of [
        { source: source.source },
        { msg_hash: [source.hash] },
        { body_hash: source.body_hash },
        { source: source.source, start_utime: 1 },
      ]) {
        const found = await chain.reader.messages(filter, page, options);
        expect(found.rows.map(({ hash }) => toHex(hash))).toEqual(oracle.messageHashes(filter, sort).slice(0, 3));
      }
      const without = { exclude_account: [one.address], lt: rows[7].lt };
      const found = await chain.reader.transactions(without, { ...page, limit: 50 }, options);
      const expected = decoys.filter(({ lt, id }) => lt === rows[7].lt && id > last).length;
      expect(found.rows.length).toBe(oracle.transactionIds(without, sort).length + expected);
    }
  });
});

describe('traces that ended in a range', () => {
  const range = { from: FROM, to: TO };

  it('are the complete ones, and with their transactions the broken ones that wait for nothing', async () => {
    const rootsOf = async (members: 'actions' | 'transactions') =>
      (await chain.reader.endedTraces(range, members, null, 10_000, options)).map(({ root }) => root);
    const expected = async (condition: string) => {
      const { rows } = await chain.client.query<{ readonly root: bigint }>(
        `SELECT root FROM traces WHERE mc_seqno_end BETWEEN $1 AND $2 AND (${condition}) ORDER BY mc_seqno_end, root`,
        [FROM, TO],
      );
      return rows.map(({ root }) => root);
    };
    const [complete, final] = [await rootsOf('actions'), await rootsOf('transactions')];
    expect(complete).toEqual(await expected('state = 0'));
    expect(final).toEqual(await expected('state = 0 OR state = 2 AND pending_edges = 0'));
    expect(final.length).toBeGreaterThan(complete.length);
  });

  it('are read by root and by hash like all complete ones, and no others', async () => {
    const all = await chain.reader.endedTraces(range, 'actions', null, 10_000, options);
    const wanted = all.filter((_, i) => i % 3 === 0).map((trace) => ({ ...trace, accounts: [] }));
    expect(wanted.length).toBeGreaterThan(10);
    const roots = wanted.map(({ root }) => root);
    expect(await chain.reader.endedTracesBy(range, { roots: [...roots, 1n] }, options)).toEqual(wanted);
    // None is classified here: their names are their ids.
    const hashes = wanted.map(({ trace_id }) => trace_id);
    expect(await chain.reader.endedTracesBy(range, { hashes: [...hashes, new Uint8Array(32)] }, options)).toEqual(
      wanted,
    );
    const [first] = wanted;
    const later = { from: first!.mc_seqno_end + 1, to: TO };
    expect(await chain.reader.endedTracesBy(later, { roots: [first!.root] }, options)).toEqual([]);
  });
});
