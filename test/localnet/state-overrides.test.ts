import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { Account, ShardAccount } from '#formats/tlb/account.js';
import { encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { Message } from '#formats/tlb/message.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import type { ChainTip } from '#localnet/ledger/block-bundle.js';
import { BlockProducer } from '#localnet/producer/block-producer.js';
import type { StateOverride } from '#localnet/producer/block-request.js';
import { BlockValidator, type BundleReport } from '#localnet/validation/block-validator.js';
import { Random } from '#test/fuzz/random.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { tipAfter } from './long-run.js';

const COIN = 1_000_000_000n;
let pool: TvmPool;

beforeAll(async () => {
  pool = await startTvm({ workers: 1 });
});

afterAll(() => pool.close());

/** A chain of a few masterchain blocks, in the last of which somebody interferes. */
async function interfere(overrides: readonly StateOverride[]): Promise<BundleReport> {
  const random = new Random('overrides');
  const randomBytes = (size: number) => random.bytes(size);
  const genesis = makeGenesis({ now: 1_790_000_000, randomBytes });
  const now = () => performance.now();
  const { validatorSeed, workchains, masterchain } = genesis;
  const producer = new BlockProducer({ emulation: pool, validatorSeed, signatureKind: 'ordinary', randomBytes, now });
  let tip: ChainTip = { masterchain, shards: [] };
  const validator = new BlockValidator(tip, [masterchain, ...workchains]);
  let report: BundleReport | null = null;
  for (let i = 0; i < 5; i++) {
    const { bundle, failed } = await producer.produce({
      tip,
      zerostates: workchains,
      now: 1_790_000_001 + i,
      externals: [],
      overrides: i === 3 ? overrides : [],
      wants: { split: [], merge: [] },
      full: () => false,
    });
    expect(failed).toEqual([]);
    const checked = validator.check(bundle);
    if (i === 3) report = checked;
    else expect(checked.deviations).toEqual([]);
    tip = tipAfter(tip, bundle);
  }
  return report!;
}

const somebody = Address.ofParts(0, new Uint8Array(32).fill(0x5a));
const [wallet] = makeGenesis({ now: 1, randomBytes: (size) => new Uint8Array(size).fill(1) }).wallets;

function message(from: Address, to: Address): StateOverride {
  const cell = encodeCell(Message, {
    info: {
      kind: 'int_msg_info',
      ihr_disabled: true,
      bounce: false,
      bounced: false,
      src: from,
      dest: to,
      value: onlyGrams(5n * COIN),
      extra_flags: 0n,
      fwd_fee: 400_000n,
      created_lt: 0n,
      created_at: 0,
    },
    init: null,
    body: { kind: 'right', value: new Builder().endCell() },
  });
  return { kind: 'message', message: cell };
}

function imported(address: Address): StateOverride {
  const account = encodeCell(Account, {
    kind: 'account',
    addr: address,
    storage_stat: {
      used: { cells: 1n, bits: 103n },
      storage_extra: { kind: 'storage_extra_none' },
      last_paid: 1_780_000_000,
      due_payment: null,
    },
    storage: { last_trans_lt: 2n, balance: onlyGrams(7n * COIN), state: { kind: 'account_uninit' } },
  });
  const shard_account = encodeCell(ShardAccount, {
    account: Lazy.ofCell(Account, account),
    last_trans_hash: new Uint8Array(32).fill(9),
    last_trans_lt: 1n,
  });
  return { kind: 'import', address, shard_account };
}

describe('what a developer does to a chain', () => {
  const cases: readonly (readonly [string, readonly StateOverride[], readonly string[]])[] = [
    ['a message from anybody', [message(somebody, wallet!.address)], ['message-injected']],
    ['a message to nobody', [message(wallet!.address, somebody)], ['message-injected']],
    [
      'more coins',
      [{ kind: 'account', address: wallet!.address, change: { balance: 9_999_999n * COIN } }],
      ['account-set'],
    ],
    ['fewer coins', [{ kind: 'account', address: wallet!.address, change: { balance: COIN } }], ['account-set']],
    [
      'another account',
      [{ kind: 'account', address: somebody, change: { balance: COIN, code: new Builder().endCell(), data: null } }],
      ['account-set'],
    ],
    ['an account of another chain', [imported(somebody)], ['account-import']],
    [
      'an account of another chain that gets a message',
      [imported(somebody), message(wallet!.address, somebody)],
      ['message-injected', 'account-import'],
    ],
    ['a library', [{ kind: 'library', library: new Builder().storeUint(77, 64).endCell() }], ['library-published']],
  ];

  it.each(cases)('is accepted and reported: %s', async (_what, overrides, kinds) => {
    const { deviations } = await interfere(overrides);
    expect(deviations.map(({ kind }) => kind).sort()).toEqual([...kinds].sort());
    for (const { subject } of deviations) expect(subject).toMatch(/^[0-9a-f]{64}$/);
  });
});
