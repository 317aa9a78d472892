import { describe, expect, it } from 'vitest';
import { readTonlibAccountState, type TonlibAccountInput } from '#domain/contracts/tonlib-account-state.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';
import { HashOnlyCell } from '#test/support/hash-only-cell.js';

const RESTRICTED = new HashOnlyCell('8d35049b946cf33b58510bb4560c841a945f7781d6de9fc69ca3f430f6e32273');
const DNS = new HashOnlyCell('a0d67d2de8919fe7b7ca77652ccd4fdc56c689de7a69161e45fb0dcc5e47c155');

function kindOf(question: Partial<TonlibAccountInput>) {
  return readTonlibAccountState({ code: null, data: null, balance: 1_000n, now: 1_000, ...question });
}

describe('readAccountKind', () => {
  it('reports of accounts of the recorded network what tonlib reported', () => {
    const reported = recordedAccounts.filter(({ account_state }) => account_state !== null);
    expect(new Set(reported.map(({ account_state }) => account_state?.['@type'])).size).toBeGreaterThanOrEqual(4);
    for (const { kind, code, data, account_state, revision } of reported) {
      const { kind: read, revision: readRevision, ...fields } = kindOf({ code, data });
      const { '@type': type, ...rest } = account_state as Record<string, string | number>;
      const numbers = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, Number(value)]));
      expect({ [kind]: { type: `${read}.accountState`, revision: readRevision, ...fields } }).toEqual({
        [kind]: { type, revision, ...numbers },
      });
    }
  });

  it('distinguishes missing code, unknown code, and data that does not fit the code', () => {
    expect(kindOf({})).toEqual({ kind: 'uninited', revision: 0 });
    expect(kindOf({ code: EMPTY_CELL, data: EMPTY_CELL })).toEqual({ kind: 'raw', revision: 0 });
    expect(kindOf({ code: DNS, data: EMPTY_CELL })).toEqual({ kind: 'raw', revision: 0 });
    expect(kindOf({ code: DNS })).toEqual({ kind: 'raw', revision: 0 });
    const data = new Builder().storeUint(0xffffffff, 32).storeUint(0, 300).endCell();
    expect(kindOf({ code: DNS, data })).toEqual({ kind: 'dns', revision: 1, wallet_id: 0xffffffff });
  });

  describe('of a restricted wallet', () => {
    const limit = (seconds: number, value: number) =>
      [
        new Uint8Array(new BigInt64Array([BigInt(seconds)]).buffer, 0, 4).slice().reverse(),
        new Builder().storeUint(2, 4).storeUint(value, 16),
      ] as const;
    const limits = buildDictionary(32, [limit(-10, 900), limit(0, 700), limit(500, 300)]);
    const start = new Builder().storeUint(3, 32).storeUint(77, 32).storeUint(0, 256);
    const data = start
      .storeUint(1_000, 32)
      .storeBit(true)
      .storeRef(limits as Cell)
      .endCell();
    const reported = {
      kind: 'rwallet',
      revision: 1,
      seqno: 3,
      wallet_id: 77,
      start_at: 1_000,
      limits: [
        { seconds: -10, value: 900n },
        { seconds: 0, value: 700n },
        { seconds: 500, value: 300n },
      ],
    };

    it('unlocks with time', () => {
      const at = (now: number, balance = 1_000n) => kindOf({ code: RESTRICTED, data, now, balance });
      expect(at(900)).toEqual({ ...reported, unlocked_balance: 1_000n });
      expect(at(995)).toEqual({ ...reported, unlocked_balance: 100n });
      expect(at(1_499)).toEqual({ ...reported, unlocked_balance: 300n });
      expect(at(1_500)).toEqual({ ...reported, unlocked_balance: 700n });
      expect(at(1_000, 5n)).toEqual({ ...reported, unlocked_balance: 0n });
    });

    it('is not restricted before it is set up', () => {
      const fresh = new Builder().storeUint(0, 32).storeUint(77, 32).storeUint(0, 512).endCell();
      expect(kindOf({ code: RESTRICTED, data: fresh })).toEqual({
        kind: 'rwallet',
        revision: 1,
        seqno: 0,
        wallet_id: 77,
        unlocked_balance: 1_000n,
        start_at: 0,
        limits: [],
      });
    });
  });
});
