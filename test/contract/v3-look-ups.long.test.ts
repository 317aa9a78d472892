import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeBoxed, encodeBoxed } from '#formats/tl/constructor.js';
import { LiteServerAccountState, LiteServerError } from '#formats/tl/lite-api.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { isTernError } from '#kernel/tern-error.js';
import { Chain } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { Random } from '#test/fuzz/random.js';
import { DirectSource } from '#test/support/direct-source.js';
import { partOf } from '#test/support/full-depth.js';
import { type LateIndex, lateIndex } from '#test/support/late-index.js';
import { replayServer } from '#test/support/replayed-chain.js';
import { type ServedV3, serveV3 } from '#test/support/served-v3.js';
import { RECORDED_NET } from '#test/support/shared-index.js';

type Mode = 'honest' | 'lies' | 'stalls' | 'prunes' | 'breaks';

let late: LateIndex;
let whole: ServedV3;
let served: ServedV3;
let mode: Mode = 'honest';
const random = new Random('look-ups');
/** Account states that were asked for. */
let asked = 0;

/** A liteserver that changes with `mode` what it answers about account states. */
function fickleChain(): Chain {
  const honest = replayServer(late.replay.ledger, systemClock);
  const source = new DirectSource(async (query) => {
    const answer = await honest(query);
    if (!isAccountState(answer)) return answer;
    asked++;
    switch (mode) {
      case 'stalls':
        return new Promise(() => {});
      case 'prunes':
        return encodeBoxed(LiteServerError, { code: 651, message: 'state already gc’d' });
      case 'breaks':
        throw new Error('the connection was lost');
      case 'lies': {
        const changed = answer.slice();
        changed[random.below(changed.length)]! ^= 1 << random.below(8);
        return changed;
      }
      default:
        return answer;
    }
  });
  const modules = { source, clock: systemClock, keyBlocks: new KeyBlockMemory(), logger: silentLogger };
  return new Chain({ zero_state: late.replay.ledger.zerostate, headMaxAgeMs: 20, deadlineMs: 5_000 }, modules);
}

function isAccountState(answer: Uint8Array): boolean {
  try {
    decodeBoxed(answer, LiteServerAccountState);
    return true;
  } catch (error) {
    if (isTernError(error)) return false;
    throw error;
  }
}

beforeAll(async () => {
  whole = await serveV3(RECORDED_NET);
  late = await lateIndex(900);
  served = await serveV3(
    RECORDED_NET,
    late.database.url,
    { fromPrice: 20 },
    {
      wakeDetection: () => late.indexer.indexer.wakeDetection(),
      mostPerRequest: 300,
      chain: fickleChain(),
    },
  );
}, 600_000);

afterAll(async () => {
  await served?.close();
  await late?.close();
  await whole?.close();
});

interface Asked {
  readonly status: number;
  readonly body: unknown;
  readonly coverage: string | null;
}

async function ask({ url }: ServedV3, path: string): Promise<Asked> {
  const answer = await fetch(`${url}/toncenter/api/v3/${path}`);
  return { status: answer.status, body: await answer.json(), coverage: answer.headers.get('x-tern-coverage') };
}

/** Asks the late index until all that is named is known: on a busy machine, look-ups may need more than the time of one request. */
async function askUntilKnown(path: string): Promise<Asked & { readonly requests: number }> {
  for (let requests = 1; ; requests++) {
    const answer = await ask(served, path);
    if (!/unknown=/.test(answer.coverage ?? '') || requests === 20) return { ...answer, requests };
  }
}

/** The accounts of a table of the whole index that the late index has not seen, by raw address. */
async function unseen(most: number, wallets = false): Promise<string[]> {
  const all = await whole.database.query<{ address: string }>({
    text: `SELECT get_byte(address, 0) AS workchain, upper(encode(substr(address, 2), 'hex')) AS address FROM accounts a
           WHERE status = 1 AND get_byte(address, 0) = 0 AND mc_seqno < 900
             AND ($1 OR NOT EXISTS (SELECT FROM contracts c WHERE c.address = a.address)) ORDER BY md5(address)`,
    values: [wallets],
  });
  const known = await served.database.query<{ address: string }>({
    text: `SELECT upper(encode(substr(address, 2), 'hex')) AS address FROM accounts`,
  });
  const seen = new Set(known.map(({ address }) => address));
  const found = all.map(({ address }) => address).filter((address) => !seen.has(address));
  expect(found.length).toBeGreaterThanOrEqual(most);
  return found.slice(0, most).map((address) => `0:${address}`);
}

const statesOf = (accounts: readonly string[]) =>
  `accountStates?address=${accounts.join(',')}&x_no_address_book=true&x_no_metadata=true`;
const SIGNAL = sharedAbortController().signal;

describe('liteservers that fail while accounts are looked up', () => {
  it.each(['prunes', 'breaks'] as const)('are no error: one that %s', async (bad) => {
    const [account] = await unseen(1);
    mode = bad;
    try {
      const { status, body, coverage } = await ask(served, statesOf([account!]));
      expect({ status, body }).toEqual({ status: 200, body: { accounts: [], address_book: {}, metadata: {} } });
      expect(coverage).toBe('history=900-1060; state=partial; unknown=1');
    } finally {
      mode = 'honest';
    }
    // What could not be read is not kept.
    const path = statesOf([account!]);
    const [expected, { requests: _, ...got }] = await Promise.all([ask(whole, path), askUntilKnown(path)]);
    expect(got).toEqual(expected);
  });

  it('that stall are given up within the time of the request, and the known part is answered', async () => {
    const accounts = await unseen(3);
    mode = 'stalls';
    try {
      const began = systemClock.now();
      const report = await served.lookUps!.lookUp({ accounts }, { deadlineMs: 200, signal: SIGNAL });
      expect(report).toMatchObject({ unknown: 3, absent: 0 });
      expect(systemClock.now() - began).toBeLessThan(30_000);
    } finally {
      mode = 'honest';
    }
  });

  it('that lie put nothing wrong into the index', async () => {
    mode = 'lies';
    const accounts = await unseen(40);
    try {
      for (let round = 0; round < 4; round++)
        await served.lookUps!.lookUp({ accounts }, { deadlineMs: 10_000, signal: SIGNAL });
    } finally {
      mode = 'honest';
    }
    const wrong = async () => {
      const text = `SELECT encode(address, 'hex') AS address, encode(state_hash, 'hex') AS state_hash, balance::text, last_trans_lt::text,
        encode(data_boc, 'hex') AS data FROM accounts WHERE address = ANY($1::bytea[]) ORDER BY address`;
      const values = [accounts.map((raw) => Buffer.from(`00${raw.slice(2)}`, 'hex'))];
      const [truth, found] = await Promise.all([whole, served].map(({ database }) => database.query({ text, values })));
      return found!.filter((row) => !truth!.some((each) => isDeepStrictEqual(each, row)));
    };
    expect(await wrong()).toEqual([]);
    const path = statesOf(accounts);
    const [expected, { requests: _, ...got }] = await Promise.all([ask(whole, path), askUntilKnown(path)]);
    expect(got).toEqual(expected);
    expect(await wrong()).toEqual([]);
  });
});

describe('look-ups', () => {
  it('of one account by many requests are one read', async () => {
    const [account] = await unseen(1);
    asked = 0;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(served, `${statesOf([account!])}&include_boc=${i % 2 === 0}`)),
    );
    expect(answers.every(({ coverage }) => coverage === null)).toBe(true);
    // A request that comes just as the first read ends may read once more.
    expect(asked).toBeLessThanOrEqual(2);
    asked = 0;
    await ask(served, `walletStates?address=${account}`);
    expect(asked).toBe(0);
  });

  it('of what does not exist are remembered', async () => {
    const nobody = `0:${'5A'.repeat(32)}`;
    const first = await ask(served, statesOf([nobody]));
    // An account that was deleted before the history would be in the answer.
    expect(first).toMatchObject({ status: 200, coverage: 'history=900-1060; state=partial' });
    asked = 0;
    expect(await ask(served, `${statesOf([nobody])}&include_boc=false`)).toMatchObject({ coverage: first.coverage });
    expect(asked).toBe(0);
  });

  it('are limited for a request: the others are unknown', async () => {
    const many = Array.from({ length: 302 }, (_, i) => `0:${i.toString(16).padStart(64, '0')}`.toUpperCase());
    const { unknown, read } = await served.lookUps!.lookUp({ accounts: many }, { deadlineMs: 30_000, signal: SIGNAL });
    expect([unknown, read]).toEqual([2, 300]);
  });

  it('are made for reader threads, too', async () => {
    const accounts = await unseen(250, true);
    const before = served.readers!.metrics().answers;
    const query = `walletStates?address=${accounts.join(',')}&x_no_address_book=true&x_no_metadata=true`;
    const [expected, { requests, ...got }] = await Promise.all([ask(whole, query), askUntilKnown(query)]);
    expect(got).toEqual(expected);
    expect(served.readers!.metrics().answers).toBe(before + requests);
  });

  it('find contracts by the names that others give them', async () => {
    const all = await whole.database.query<{ path: string }>({
      text: `SELECT 'jetton/wallets?owner_address=' || ${raw('owner')} || '&jetton_address=' || ${raw('jetton')} AS path
             FROM jetton_wallets WHERE lapsed IS NULL
             UNION ALL SELECT 'nft/items?collection_address=' || ${raw('collection')} || '&index=' || index
             FROM nft_items WHERE lapsed IS NULL AND collection IS NOT NULL
             UNION ALL SELECT 'dns/records?domain=' || domain FROM dns_items WHERE lapsed IS NULL ORDER BY path`,
    });
    expect(all.length).toBeGreaterThan(300);
    const names = partOf(all, 3);
    const wrong: string[] = [];
    const compare = async ({ path }: { readonly path: string }) => {
      const query = `${path}&x_no_address_book=true`;
      const [expected, { requests: _, ...got }] = await Promise.all([ask(whole, query), askUntilKnown(query)]);
      if (!isDeepStrictEqual(expected, got)) wrong.push(`${path} ${JSON.stringify(expected)} ${JSON.stringify(got)}`);
    };
    for (let at = 0; at < names.length; at += 16) await Promise.all(names.slice(at, at + 16).map(compare));
    expect(wrong).toEqual([]);
  });
});

function raw(column: string): string {
  return `(get_byte(${column}, 0) || ':' || upper(encode(substr(${column}, 2), 'hex')))`;
}

describe('what lies before the history', () => {
  it.each([
    'blocks?mc_seqno=5',
    'blocks?workchain=-1&seqno=5',
    'transactions?mc_seqno=5',
    'traces?mc_seqno=5',
    'masterchainBlockShards?seqno=5',
    'masterchainBlockShardState?seqno=5',
    'transactionsByMasterchainBlock?seqno=5',
  ])('is an error with the range: %s', async (path) => {
    const { status, body, coverage } = await ask(served, path);
    expect(status).toBe(404);
    expect((body as { readonly error: string }).error).toContain('masterchain blocks 900-1060');
    expect(coverage).toBe('history=900-1060; state=partial');
  });

  it('is answered with what there is when it is a bound', async () => {
    const { status, coverage } = await ask(served, 'transactions?start_lt=1&limit=5');
    expect({ status, coverage }).toEqual({ status: 200, coverage: 'history=900-1060; state=partial' });
  });

  it('changes nothing for what is after it', async () => {
    const [expected, got] = await Promise.all([ask(whole, 'blocks?mc_seqno=950'), ask(served, 'blocks?mc_seqno=950')]);
    expect(got).toEqual(expected);
  });
});
