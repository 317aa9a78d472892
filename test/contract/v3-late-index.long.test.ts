import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionConfig } from '#drivers/store/connection.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { type Recording, readRecordings } from '#test/contract/recorded-calls.js';
import { v3Call } from '#test/contract/v3-recorded.js';
import { differingRows, dumpIndex, type IndexTable } from '#test/support/dump-index.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import { fillFromGenesis, type LateIndex, lateIndex, untilIndexed } from '#test/support/late-index.js';
import type { ReplayedIndexer } from '#test/support/replayed-indexer.js';
import { type ServedV3, serveV3 } from '#test/support/served-v3.js';
import { RECORDED_NET, sharedIndex } from '#test/support/shared-index.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const FROM = 900;
const network = vectorPath('collection/recorded-net');

interface Asked {
  readonly status: number;
  readonly body: unknown;
  readonly coverage: string | null;
}

async function ask(url: string, path: string, init?: RequestInit): Promise<Asked> {
  const answer = await fetch(`${url}/toncenter/api/v3${path}`, init);
  const text = await answer.text();
  return {
    status: answer.status,
    body: text === '' ? '' : JSON.parse(text),
    coverage: answer.headers.get('x-tern-coverage'),
  };
}

function askRecorded(url: string, { method, path, query, body }: Recording): Promise<Asked> {
  const init: RequestInit = { method };
  if (body !== null && body !== undefined) {
    init.headers = { 'content-type': 'application/json' };
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  return ask(url, `${path}${query ? `?${query}` : ''}`, init);
}

/** Contracts are listed by their first transactions, which a late index does not know: lists are compared as sets. */
function asSets(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((each) => JSON.stringify(each)).sort() : value,
    ]),
  );
}

function isEqual(a: Asked, b: Asked): boolean {
  return a.status === b.status && (a.status !== 200 || isDeepStrictEqual(asSets(a.body), asSets(b.body)));
}

let late: LateIndex;
let whole: ServedV3;
let served: ServedV3;

beforeAll(async () => {
  whole = await serveV3(RECORDED_NET);
  late = await lateIndex(FROM);
  served = await serveV3(RECORDED_NET, late.database.url, undefined, {
    wakeDetection: () => late.indexer.indexer.wakeDetection(),
  });
}, 600_000);

afterAll(async () => {
  await served?.close();
  await late?.close();
  await whole?.close();
});

describe('an index that begins late', () => {
  it('answers every recorded request as the whole index does, or says what it may lack', async () => {
    const asked = readRecordings(`${network}/v3-recordings.jsonl.br`)
      .map(v3Call)
      .filter((call) => call !== null);
    const short: string[] = [];
    const counts = { equal: 0, marked: 0 };
    for (const { recording } of partOf(asked, 6)) {
      const [expected, got] = await Promise.all([
        askRecorded(whole.url, recording),
        askRecorded(served.url, recording),
      ]);
      expect(expected.coverage, recording.id).toBeNull();
      if (got.coverage !== null) counts.marked++;
      else if (isEqual(expected, got)) counts.equal++;
      else
        short.push(
          `${recording.path}?${recording.query} ${JSON.stringify(got).slice(0, 300)} / ${JSON.stringify(expected).slice(0, 300)}`,
        );
    }
    expect(short).toEqual([]);
    expect(counts.equal).toBeGreaterThan(FULL ? 100 : 16);
  }, 300_000);

  it('answers for each account as the whole index does', async () => {
    const accounts = addressesOf(JSON.parse(Buffer.from(readBytes(`${network}/addresses.json.br`)).toString('utf8')));
    expect(accounts.length).toBeGreaterThan(500);
    const rows = await whole.database.query<{ raw: string }>({
      text: `SELECT get_byte(address, 0) || ':' || upper(encode(substr(address, 2), 'hex')) AS raw FROM accounts
             WHERE status <> 3`,
    });
    const there = new Set(rows.map(({ raw }) => raw));
    const [existing, absent] = [accounts.filter((one) => there.has(one)), accounts.filter((one) => !there.has(one))];
    expect([existing.length > 500, absent.length > 0]).toEqual([true, true]);
    const different: string[] = [];
    const compare = async (path: string, list: readonly string[]): Promise<string | null> => {
      const query = `${path}${list.join(',')}${OF_ACCOUNTS.test(path) ? '' : '&limit=1000'}&x_no_address_book=true`;
      const [expected, got] = await Promise.all([ask(whole.url, query), ask(served.url, query)]);
      expect([expected.status, got.status], path).toEqual([200, 200]);
      const isMarked = got.coverage !== null;
      if (!isMarked && !isEqual(expected, got)) different.push(`${path} ${difference(expected.body, got.body)}`);
      return got.coverage;
    };
    const some = partOf(existing, 3);
    for (const path of PATHS) {
      for (let at = 0; at < some.length; at += 100) {
        expect(await compare(path, some.slice(at, at + 100)), path).toBeNull();
      }
      // An account that was deleted before the history would be known as that.
      const coverage = await compare(path, absent);
      if (OF_ACCOUNTS.test(path)) expect(coverage, path).toMatch(/^history=900-/);
    }
    expect(different).toEqual([]);
  }, 300_000);
});

const OF_ACCOUNTS = /^\/(account|wallet)States/;
const PATHS = [
  '/accountStates?address=',
  '/walletStates?address=',
  '/jetton/masters?address=',
  '/jetton/wallets?address=',
  '/nft/collections?collection_address=',
  '/nft/items?address=',
  '/nft/sales?address=',
  '/multisig/wallets?include_orders=false&address=',
  '/multisig/orders?address=',
  '/vesting?contract_address=',
];

function addressesOf(value: unknown): string[] {
  const found = new Set<string>();
  const visit = (each: unknown): void => {
    if (typeof each === 'string' && /^-?\d+:[0-9a-fA-F]{64}$/.test(each)) found.add(each.toUpperCase());
    else if (typeof each === 'object' && each !== null)
      for (const [key, inner] of Object.entries(each)) {
        visit(key);
        visit(inner);
      }
  };
  visit(value);
  return [...found];
}

function difference(a: unknown, b: unknown): string {
  const [x, y] = [asSets(a), asSets(b)] as [Record<string, unknown>, Record<string, unknown>];
  for (const key of Object.keys({ ...x, ...y })) {
    if (isDeepStrictEqual(x[key], y[key])) continue;
    const [p, q] = [x[key], y[key]];
    if (Array.isArray(p) && Array.isArray(q)) {
      const missing = p.filter((each) => !q.includes(each));
      const extra = q.filter((each) => !p.includes(each));
      return `${key}: missing ${missing.length} ${String(missing[0]).slice(0, 400)} / extra ${extra.length} ${String(extra[0]).slice(0, 400)}`;
    }
    return `${key}: ${JSON.stringify(p).slice(0, 300)} / ${JSON.stringify(q).slice(0, 300)}`;
  }
  return 'status';
}

describe.each(FULL ? [FROM] : [])('history that is filled below block %i', (from) => {
  it('makes the rows of an index that began with block 1, while blocks are followed and accounts looked up', async () => {
    const begun = await lateIndex(from, 980);
    const { replay, database } = begun;
    let filling: ReplayedIndexer | null = null;
    const asking = await serveV3(RECORDED_NET, database.url, undefined, {
      wakeDetection: () => (filling ?? begun.indexer).indexer.wakeDetection(),
    });
    const first = new pg.Client(connectionConfig(await sharedIndex(RECORDED_NET)));
    await first.connect();
    try {
      const { rows } = await first.query<{ raw: string }>(
        `SELECT get_byte(address, 0) || ':' || encode(substr(address, 2), 'hex') AS raw FROM accounts
         WHERE get_byte(address, 0) = 0 ORDER BY md5(address)`,
      );
      const signal = sharedAbortController().signal;
      const lookUp = (from: number, to: number) => {
        const contracts = rows.slice(from, to).map(({ raw }) => raw);
        return asking.lookUps!.lookUp({ contracts }, { deadlineMs: 20_000, signal });
      };
      await lookUp(0, 200);
      filling = await fillFromGenesis(begun);
      for (let head = 985; head <= 1060; head += 5) {
        replay.ledger.advanceTo(head);
        const at = 200 + (head - 985) * 4;
        await lookUp(at, at + 20);
      }
      await untilIndexed(begun, { from: 1, to: 1060 });
      const second = await database.connect();
      const differing = async () => {
        const [a, b] = await Promise.all([dumpIndex(first), dumpIndex(second)]);
        const tables = (Object.keys(a) as IndexTable[]).filter((table) => a[table] !== b[table]);
        const rows: string[] = [];
        for (const table of tables) rows.push(table, ...(await differingRows(first, second, table, 3)));
        return rows;
      };
      // Derivations of the leader go on for some seconds.
      await expect.poll(differing, { timeout: 120_000, interval: 1_000 }).toEqual([]);
    } finally {
      await first.end();
      await asking.close();
      await filling?.close();
      await begun.close();
    }
  }, 600_000);
});
