import { describe, expect, it } from 'vitest';
import type { JsonText } from '#api/http/endpoint.js';
import { compileParameters } from '#api/http/parameters.js';
import { v2AccountEndpoints } from '#api/v2/accounts.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import { Account, type AccountState, ShardAccount, stateInitOf } from '#formats/tlb/account.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { fromBase64, toHex } from '#kernel/bytes.js';
import { HashOnlyCell } from '#test/support/hash-only-cell.js';
import { callV2 } from '#test/support/v2-method.js';

const address = Address.ofParts(0, new Uint8Array(32).fill(0xab));
const block = {
  workchain: -1,
  shard: 1n << 63n,
  seqno: 77,
  root_hash: new Uint8Array(32).fill(1),
  file_hash: new Uint8Array(32).fill(2),
};
const last_transaction = { lt: 47_000_000_001n, hash: new Uint8Array(32).fill(3) };
const other = ExtraCurrencyCollection.of([
  [100, 7n],
  [0xffff_ffef, 2n ** 100n],
]);
const data = new Builder().storeUint(5, 32).endCell();
const code = new Builder().storeUint(1, 8).endCell();

function accountOf(state: AccountState) {
  return {
    kind: 'account' as const,
    addr: address,
    storage_stat: {
      used: { cells: 3n, bits: 100n },
      storage_extra: { kind: 'storage_extra_none' as const },
      last_paid: 1,
      due_payment: null,
    },
    storage: { last_trans_lt: 5n, balance: { grams: 1_500_000_000n, other }, state },
  };
}

/** A network with one account; null: there is none. */
function networkWith(account: ReturnType<typeof accountOf> | null, workchain = true) {
  const shard = { ...block, workchain: 0, seqno: 500 };
  const read = {
    block,
    gen_utime: 1_800_000_000,
    shard_block: workchain ? shard : null,
    shard_utime: workchain ? 1_799_999_999 : null,
    shard_lt: workchain ? 47_000_000_009n : null,
    account,
    cell: account === null ? null : encodeCell(Account, account),
    last_transaction: account === null ? null : last_transaction,
    proof: null,
  };
  return { chain: { account: async () => read } } as never;
}

const active = networkWith(accountOf({ kind: 'account_active', state_init: stateInitOf(code, data) }));
const frozen = networkWith(accountOf({ kind: 'account_frozen', state_hash: new Uint8Array(32).fill(9) }));
const uninit = networkWith(accountOf({ kind: 'account_uninit' }));
const none = networkWith(null);

async function ask(name: string, network: never) {
  const { result, error } = await callV2(v2AccountEndpoints, name, { address: address.toFriendly() }, network);
  expect(error).toBe('');
  return result;
}

describe('an account', () => {
  const fields = {
    '@type': 'raw.fullAccountState',
    balance: '1500000000',
    extra_currencies: [
      { '@type': 'extraCurrency', id: 100, amount: '7' },
      { '@type': 'extraCurrency', id: -17, amount: (2n ** 100n).toString() },
    ],
    last_transaction_id: {
      '@type': 'internal.transactionId',
      lt: '47000000001',
      hash: 'AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=',
    },
    block_id: {
      '@type': 'chain.blockIdExt',
      workchain: -1,
      shard: '-9223372036854775808',
      seqno: 77,
      root_hash: 'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=',
      file_hash: 'AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=',
    },
    frozen_hash: '',
    sync_utime: 1_799_999_999,
    suspended: false,
  };
  const empty = { ...fields, code: '', data: '' };
  const nothing = { '@type': 'internal.transactionId', lt: '0', hash: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' };

  it('is active, frozen, uninitialised or not there', async () => {
    const hash = 'CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=';
    expect(await ask('getAddressInformation', frozen)).toEqual({ ...empty, frozen_hash: hash, state: 'frozen' });
    expect(await ask('getAddressInformation', uninit)).toEqual({ ...empty, state: 'uninitialized' });
    expect(await ask('getAddressInformation', none)).toEqual({
      ...empty,
      balance: '0',
      extra_currencies: [],
      last_transaction_id: nothing,
      state: 'uninitialized',
    });
    const { code: codeText, data: dataText, ...rest } = (await ask('getAddressInformation', active)) as typeof empty;
    expect(rest).toEqual({ ...fields, state: 'active' });
    expect([codeText, dataText].map((text) => toHex(parseBocRoot(fromBase64(text)!).hash()))).toEqual(
      [code, data].map((cell) => toHex(cell.hash())),
    );
    for (const text of [codeText, dataText]) expect(text.startsWith('te6cck')).toBe(true);
  });

  it('has a balance and a state alone', async () => {
    expect(await Promise.all([active, frozen, uninit, none].map((one) => ask('getAddressState', one)))).toEqual([
      'active',
      'frozen',
      'uninitialized',
      'uninitialized',
    ]);
    expect(await ask('getAddressBalance', frozen)).toBe('1500000000');
    expect(await ask('getAddressBalance', none)).toBe('0');
  });

  it('has its kind in the extended form', async () => {
    const asRaw = { '@type': 'raw.accountState', frozen_hash: '' };
    const uninited = { '@type': 'uninited.accountState' };
    expect(await ask('getExtendedAddressInformation', active)).toMatchObject({ account_state: asRaw, revision: 0 });
    expect(await ask('getExtendedAddressInformation', frozen)).toMatchObject({
      account_state: { ...uninited, frozen_hash: 'CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=' },
    });
    expect(await ask('getExtendedAddressInformation', none)).toMatchObject({
      balance: '-1',
      account_state: { ...uninited, frozen_hash: '' },
    });
    const text = address.toFriendly({ bounceable: false, testnet: true });
    const { result } = await callV2(v2AccountEndpoints, 'getExtendedAddressInformation', { address: text }, none);
    expect(result).toMatchObject({ address: { '@type': 'accountAddress', account_address: text } });
  });

  it('has all digits of its integers in the extended form', async () => {
    const restricted = new HashOnlyCell('8d35049b946cf33b58510bb4560c841a945f7781d6de9fc69ca3f430f6e32273');
    const fresh = new Builder().storeUint(0, 32).storeUint(77, 32).storeUint(0, 512).endCell();
    const { kind, addr, storage_stat, storage } = accountOf({ kind: 'account_uninit' });
    const state_init = { ...stateInitOf(code, fresh), code: restricted };
    const balance = { ...storage.balance, grams: 20_000_000_123_456_789n };
    const account = {
      kind,
      addr,
      storage_stat,
      storage: { ...storage, balance, state: { kind: 'account_active', state_init } },
    };
    const read = { ...(await (none as { chain: { account: () => Promise<object> } }).chain.account()), account };
    const endpoint = v2AccountEndpoints.find(({ name }) => name === 'getExtendedAddressInformation')!;
    const params = compileParameters(endpoint).read({ address: address.toFriendly() }, 'body');
    const context = { network: { chain: { account: async () => read } }, read: {}, worked: () => {}, header: () => {} };
    const { text } = (await endpoint.handle(params, context as never)) as JsonText;
    expect(text).toContain('"balance":"20000000123456789"');
    expect(text).toContain('"unlocked_balance":20000000123456789');
  });

  it('is no wallet when its code is not known', async () => {
    for (const one of [active, frozen, none]) {
      const result = (await ask('getWalletInformation', one)) as object;
      expect(Object.keys(result).sort()).toEqual([
        '@type',
        'account_state',
        'balance',
        'last_transaction_id',
        'wallet',
      ]);
      expect(result).toMatchObject({ wallet: false });
    }
  });

  it('is a cell that reads back', async () => {
    for (const [one, kind] of [
      [active, 'account'],
      [none, 'account_none'],
    ] as const) {
      const { bytes } = (await ask('getShardAccountCell', one)) as { bytes: string };
      const read = decodeCell(ShardAccount, parseBocRoot(fromBase64(bytes)!));
      expect([read.account.value.kind, read.last_trans_lt]).toEqual([kind, one === active ? 47_000_000_001n : 0n]);
    }
  });

  it('cannot be in a workchain that does not exist', async () => {
    const network = networkWith(null, false);
    for (const { name } of v2AccountEndpoints) {
      if (name === 'getTokenData' || name === 'dnsResolve') continue;
      const answer = await callV2(v2AccountEndpoints, name, { address: `5:${'ab'.repeat(32)}` }, network);
      expect([answer.status, answer.error]).toEqual([422, expect.stringContaining('no workchain 5')]);
    }
  });
});
