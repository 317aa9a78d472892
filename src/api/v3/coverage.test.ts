import { describe, expect, it } from 'vitest';
import { v3Context } from '#api/v3/context.js';
import { COVERAGE_HEADER } from '#api/v3/coverage.js';
import { writeAddressTail } from '#api/v3/page.js';
import { ACCOUNT_PRICE, GET_METHOD_PRICE } from '#api/v3/price.js';
import { v3Endpoints } from '#api/v3/v3-api.js';
import type { IndexCoverage } from '#drivers/store/index-state.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type { LookUpReport, LookUps, NamedContracts } from '#services/lookups/named-contracts.js';
import { callV3 } from '#test/support/v3-method.js';

const LATE: IndexCoverage = { history: [{ from: 900, to: 1060 }], selected: false, state_seqno: null };
const IMPORTED: IndexCoverage = { ...LATE, state_seqno: 1060 };
const WHOLE: IndexCoverage = { history: [{ from: 1, to: 1060 }], selected: false, state_seqno: 1060 };
const OWNER = `0:${'1'.repeat(64)}`;
const MASTER = `0:${'2'.repeat(64)}`;

/** An index without rows. */
const EMPTY = {
  jettonWallets: async () => ({ rows: [], next: null }),
  transactions: async () => ({ rows: [], next: null }),
  blocks: async () => ({ rows: [], next: null }),
  hasMcBlock: async () => true,
  addressFacts: async () => ({ accounts: new Map(), domains: new Map(), tokens: new Map() }),
} as unknown as IndexPort;

function lookUpsThat(report: Partial<LookUpReport>): LookUps & { readonly asked: NamedContracts[] } {
  const asked: NamedContracts[] = [];
  return {
    asked,
    lookUp: async (named) => {
      asked.push(named);
      return { unknown: 0, absent: 0, read: 0, ran: 0, ...report };
    },
  };
}

async function coverageOf(name: string, query: string, coverage: IndexCoverage | null, lookUps?: LookUps) {
  const network = {
    index: EMPTY,
    ...(coverage === null ? {} : { coverage: () => coverage }),
    ...(lookUps === undefined ? {} : { lookUps }),
  };
  const { headers, status } = await callV3(name, query, { network });
  return status === 200 ? (headers['X-Tern-Coverage'] ?? null) : status;
}

describe('the header of answers that may lack something', () => {
  it('depends on the parameters: lists need all states, what is named does not', async () => {
    const partial = 'history=900-1060; state=partial';
    const lookUps = lookUpsThat({});
    expect(await coverageOf('jetton/wallets', `owner_address=${OWNER}`, LATE, lookUps)).toBe(partial);
    expect(await coverageOf('jetton/wallets', `jetton_address=${MASTER}`, LATE, lookUps)).toBe(partial);
    expect(lookUps.asked).toEqual([]);
    expect(await coverageOf('jetton/wallets', `address=${OWNER}`, LATE, lookUps)).toBeNull();
    expect(
      await coverageOf('jetton/wallets', `owner_address=${OWNER}&jetton_address=${MASTER}`, LATE, lookUps),
    ).toBeNull();
    expect(lookUps.asked).toMatchObject([
      { contracts: [OWNER] },
      { contracts: [], jettonWallets: [{ owner: OWNER, jetton: MASTER }] },
    ]);
  });

  it('says of history what is indexed, however complete the state is', async () => {
    expect(await coverageOf('transactions', `account=${OWNER}`, IMPORTED)).toBe('history=900-1060; state=complete');
    expect(await coverageOf('jetton/wallets', `owner_address=${OWNER}`, IMPORTED)).toBeNull();
    const holes = { ...LATE, history: [{ from: 1, to: 599 }, ...LATE.history] };
    expect(await coverageOf('transactions', '', holes)).toBe('history=1-599,900-1060; state=partial');
  });

  it('counts what could not be looked up', async () => {
    const header = await coverageOf('jetton/wallets', `address=${OWNER},${MASTER}`, LATE, lookUpsThat({ unknown: 2 }));
    expect(header).toBe('history=900-1060; state=partial; unknown=2');
  });

  it('comes with all that is named when nothing can be looked up', async () => {
    expect(await coverageOf('jetton/wallets', `address=${OWNER}`, LATE)).toBe('history=900-1060; state=partial');
  });

  it('is there for no answer of a whole index', async () => {
    const lookUps = lookUpsThat({ unknown: 1 });
    for (const coverage of [WHOLE, null]) {
      expect(await coverageOf('jetton/wallets', `owner_address=${OWNER}`, coverage, lookUps)).toBeNull();
      expect(await coverageOf('transactions', '', coverage, lookUps)).toBeNull();
    }
    expect(lookUps.asked).toEqual([]);
  });

  it('is an error with the range for masterchain blocks and blocks before the history', async () => {
    const network = { index: EMPTY, coverage: () => LATE };
    for (const query of ['mc_seqno=899', 'workchain=-1&seqno=899']) {
      const { status, code, error } = await callV3('blocks', query, { network });
      expect({ status, code }).toEqual({ status: 404, code: 'v3/not-indexed' });
      expect(error).toBe('masterchain block 899 is not indexed: the index has the masterchain blocks 900-1060');
    }
    for (const query of ['workchain=0&shard=8000000000000000&seqno=5', `root_hash=${'0'.repeat(64)}`]) {
      expect(await callV3('blocks', query, { network })).toMatchObject({ status: 404, code: 'v3/block-not-indexed' });
    }
    // Newer ones are not there yet, and those of a whole index never were.
    expect(await coverageOf('blocks', 'mc_seqno=1061', LATE)).toBeNull();
    expect(await coverageOf('blocks', 'workchain=0&shard=8000000000000000&seqno=5', WHOLE)).toBeNull();
  });
});

it('look-ups are work of the client, and answers without what was named are not kept', async () => {
  const answer = (report: Partial<LookUpReport>) =>
    callV3('jetton/wallets', `address=${OWNER}`, {
      network: { index: EMPTY, coverage: () => LATE, lookUps: lookUpsThat(report) },
    });
  expect(await answer({ read: 4 })).toMatchObject({ headers: {}, work: 4 * ACCOUNT_PRICE, isKept: true });
  expect(await answer({ read: 1, ran: 2 })).toMatchObject({ work: ACCOUNT_PRICE + 2 * GET_METHOD_PRICE });
  expect(await answer({ read: 1, unknown: 1 })).toMatchObject({ work: ACCOUNT_PRICE, isKept: false });
});

it('the document says of each list on what it depends', () => {
  const described = v3Endpoints.filter(({ description }) => description.includes('X-Tern-Coverage'));
  expect(described.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['transactions', 'jetton/wallets', 'traces']),
  );
});

it('a tail that is written anew says what it lacks', async () => {
  const headers = new Map<string, string>();
  let isKept = true;
  const tailOf = (report: Partial<LookUpReport>, coverage: IndexCoverage = LATE) => {
    headers.clear();
    const network = { index: EMPTY, isTestnet: false, coverage: () => coverage, lookUps: lookUpsThat(report) };
    const context = v3Context(network, {
      read: {
        signal: new AbortController().signal,
        deadlineMs: 10_000,
        client: { id: 'test', hasKey: false, onTvmCost: () => {} },
      },
      switches: { timeoutMs: null, noAddressBook: false, noMetadata: false, debug: false, actionsVersion: null },
      ...{ profile: 'spec', group: null, worked: () => {}, foresee: () => {}, dependsOn: () => {} },
      header: (name, value) => void headers.set(name, value),
      notKept: () => {
        isKept = false;
      },
    });
    return writeAddressTail({ raws: [OWNER], metadata: true }, context);
  };
  await tailOf({});
  expect([headers.get(COVERAGE_HEADER), isKept]).toEqual(['history=900-1060; state=partial', true]);
  await tailOf({ unknown: 1 });
  expect([headers.get(COVERAGE_HEADER), isKept]).toEqual(['history=900-1060; state=partial; unknown=1', false]);
  await tailOf({}, WHOLE);
  expect([...headers]).toEqual([]);
});
